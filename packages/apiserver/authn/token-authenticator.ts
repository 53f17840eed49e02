import { StatusError } from '@skerry/api'
import type { AuthenticatedUser } from '../contract/access.ts'

/** Authenticates one type of bearer token. */
export interface TokenAuthenticator {
  /**
   * Resolves to undefined if the token is not of this type; throws TokenError if it is but is bad.
   * `audiences` are the requested ones; the result lists those of them that the token has.
   */
  authenticateToken(
    token: string,
    audiences: readonly string[],
    signal: AbortSignal,
  ): Promise<AuthenticatedUser | undefined>
}

/**
 * The reason why a token was refused. It goes to TokenReview and debug logs, never to an
 * unauthenticated caller.
 */
export class TokenError extends Error {
  override name = 'TokenError'
}

/** Returns the answer of every failed authentication, whatever the reason. */
export function unauthorized(cause?: unknown): StatusError {
  return new StatusError('Unauthorized', 'Unauthorized', { cause })
}
