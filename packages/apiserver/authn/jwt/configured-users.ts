import type { Clock } from '@skerry/base'
import type { TokenAuthenticator } from '../token-authenticator.ts'
import type { AuthenticationConfig, JwtIssuerConfig } from './authentication-config.ts'
import { createJwtAuthenticator } from './jwt-authenticator.ts'

/** The users of an AuthenticationConfiguration, which can change while the server runs. */
export interface ConfiguredUsers {
  readonly tokens: TokenAuthenticator
  /** Returns undefined if the file does not configure anonymous requests. */
  isAnonymousAllowed(path: string): boolean | undefined
  /** Returns the issuers whose tokens are accepted now, with their audiences. */
  issuers(): readonly NonNullable<JwtIssuerConfig['issuer']>[]
  /**
   * Takes effect with the next request. Throws if an expression does not compile; the previous
   * configuration then stays.
   */
  setConfig(config: AuthenticationConfig): void
}

export function createConfiguredUsers(config: AuthenticationConfig, clock: Clock): ConfiguredUsers {
  let current = { config, tokens: createJwtAuthenticator(config.jwt, clock) }
  return {
    tokens: {
      authenticateToken: (token, audiences, signal) =>
        current.tokens.authenticateToken(token, audiences, signal),
    },
    isAnonymousAllowed(path) {
      const { anonymous } = current.config
      if (!anonymous) return undefined
      return anonymous.isEnabled && (anonymous.paths?.includes(path) ?? true)
    },
    issuers: () => current.config.jwt.flatMap(({ issuer }) => issuer ?? []),
    setConfig(next) {
      current = { config: next, tokens: createJwtAuthenticator(next.jwt, clock) }
    },
  }
}
