import { StatusError } from '@skerry/api'
import type { AuthenticatedUser } from '../contract/access.ts'

/** One sort of bearer token. */
export interface TokenAuthenticator {
  /**
   * Resolves undefined when the token is not of its sort; throws TokenError when it is and is bad.
   * `audiences` are those asked for; the answer's are those of them that the token has.
   */
  authenticateToken(
    token: string,
    audiences: readonly string[],
    signal: AbortSignal,
  ): Promise<AuthenticatedUser | undefined>
}

/** Why a token was refused; goes to TokenReview and debug logs, never to an unauthenticated caller. */
export class TokenError extends Error {
  override name = 'TokenError'
}

/** What every failed authentication answers, whatever failed. */
export function unauthorized(cause?: unknown): StatusError {
  return new StatusError('Unauthorized', 'Unauthorized', { cause })
}
