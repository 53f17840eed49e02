import { isStatusError } from '@skerry/api'
import type { Logger } from '@skerry/base'
import type { AuthenticatedUser, Authenticator, UserInfo } from '../contract/access.ts'
import { bearerTokenOf } from './bearer-token.ts'
import { TokenError, unauthorized, type TokenAuthenticator } from './token-authenticator.ts'
import { anonymousName, anonymousUser, systemGroups } from '../contract/user-names.ts'

export interface AuthenticatorChainOptions {
  readonly certificates: Authenticator
  readonly tokens: TokenAuthenticator
  /** The audiences that a token must be for to be good at this server. */
  readonly audiences: readonly string[]
  /** False: a request without credentials for that path is refused. */
  readonly isAnonymousAllowed: (path: string) => boolean
  readonly log: Logger
}

/**
 * Who asks: by certificate, else by token, else nobody in particular. Credentials that are wrong
 * are refused; a request with none is anonymous. A bad certificate is forgiven when the token is
 * good, as upstream does.
 */
export function createAuthenticatorChain(options: AuthenticatorChainOptions): {
  authenticate(...given: Parameters<Authenticator['authenticate']>): Promise<AuthenticatedUser>
} {
  const byToken = tokenAttempt(options)
  // A certificate's user is one object: with its group it is one, too.
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

/** Asks each sort of token in turn; a token of a known sort that is bad ends the search unless another knows it. */
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
