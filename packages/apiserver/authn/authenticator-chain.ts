import { isStatusError } from '@skerry/api'
import type { Logger } from '@skerry/base'
import type { AuthenticatedUser, Authenticator, UserInfo } from '../contract/access.ts'
import { bearerTokenOf } from './bearer-token.ts'
import { TokenError, unauthorized, type TokenAuthenticator } from './token-authenticator.ts'
import { anonymousName, anonymousUser, systemGroups } from '../contract/user-names.ts'

export interface AuthenticatorChainOptions {
  readonly certificates: Authenticator
  readonly tokens: TokenAuthenticator
  /** The audiences of this server; a token must be for one of them. */
  readonly audiences: readonly string[]
  /** If it returns false, a request without credentials is refused for that path. */
  readonly isAnonymousAllowed: (path: string) => boolean
  readonly log: Logger
}

/**
 * Authenticates by certificate, else by token, else as anonymous. Wrong credentials are refused. A
 * bad certificate is ignored if the token is good, as upstream.
 */
export function createAuthenticatorChain(options: AuthenticatorChainOptions): {
  authenticate(...given: Parameters<Authenticator['authenticate']>): Promise<AuthenticatedUser>
} {
  const byToken = tokenAttempt(options)
  // A certificate's user is always the same object, so its extended copy must be, too.
  const known = new WeakMap<UserInfo, UserInfo>()
  const knownUser = (user: UserInfo): UserInfo => {
    const seen = known.get(user)
    if (seen) return seen
    const grouped = withAuthenticatedGroup(user)
    known.set(user, grouped)
    return grouped
  }
  return {
    async authenticate(credentials, signal) {
      const failures: unknown[] = []
      for (const attempt of [options.certificates, byToken]) {
        try {
          const found = await attempt.authenticate(credentials, signal)
          if (found) return { ...found, user: knownUser(found.user) }
        } catch (error) {
          if (!isStatusError(error, 'Unauthorized')) throw error
          failures.push(error)
          options.log.debug('Authentication failed', {
            error: error.cause instanceof Error ? error.cause : error,
          })
        }
      }
      const isAnonymous =
        failures.length === 0 && options.isAnonymousAllowed(credentials.path ?? '')
      if (!isAnonymous) throw unauthorized(failures[0])
      return { user: anonymousUser }
    },
  }
}

/**
 * Tries each token authenticator in turn. Throws the error of one that recognizes a bad token,
 * unless another accepts it.
 */
export function unionTokens(authenticators: readonly TokenAuthenticator[]): TokenAuthenticator {
  return {
    async authenticateToken(token, audiences, signal) {
      const failures: string[] = []
      for (const authenticator of authenticators) {
        try {
          const found = await authenticator.authenticateToken(token, audiences, signal)
          if (found) return found
        } catch (error) {
          if (!(error instanceof TokenError)) throw error
          failures.push(error.message)
        }
      }
      if (failures.length === 0) return undefined
      throw new TokenError(failures.length === 1 ? `${failures[0]}` : `[${failures.join(', ')}]`)
    },
  }
}

function tokenAttempt(options: AuthenticatorChainOptions): Authenticator {
  return {
    async authenticate(credentials, signal) {
      const token = bearerTokenOf(credentials)
      if (token === undefined) return undefined
      try {
        const found = await options.tokens.authenticateToken(token, options.audiences, signal)
        if (found) return found
      } catch (error) {
        if (error instanceof TokenError) throw unauthorized(error)
        throw error
      }
      throw unauthorized(new TokenError('invalid bearer token'))
    },
  }
}

export function withAuthenticatedGroup(user: UserInfo): UserInfo {
  const { authenticated, unauthenticated } = systemGroups
  if (user.name === anonymousName) return user
  if (user.groups.includes(authenticated) || user.groups.includes(unauthenticated)) return user
  return { ...user, groups: [...user.groups, authenticated] }
}
