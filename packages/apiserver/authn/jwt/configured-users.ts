import type { Clock } from '@skerry/base'
import type { TokenAuthenticator } from '../token-authenticator.ts'
import type { AuthenticationConfig, JwtIssuerConfig } from './authentication-config.ts'
import { createJwtAuthenticator } from './jwt-authenticator.ts'

/** What an AuthenticationConfiguration says, while the server runs and the file changes. */
export interface ConfiguredUsers {
  readonly tokens: TokenAuthenticator
  /** Undefined: the file says nothing of it. */
  isAnonymousAllowed(path: string): boolean | undefined
  /** Whose tokens are taken now, and for which audiences. */
  issuers(): readonly NonNullable<JwtIssuerConfig['issuer']>[]
  /** From the next request on. Throws when an expression does not compile; then all stays as it was. */
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
