import { StatusError, type AnyObject, type TokenReview } from '@skerry/api'
import type { Clock } from '@skerry/base'
import type { UserInfo } from '../contract/access.ts'
import type { ReviewHandler } from '../contract/review.ts'
import { apiTime } from '../contract/status-answers.ts'
import { typed } from '../contract/typed-objects.ts'
import { withAuthenticatedGroup } from './authenticator-chain.ts'
import { TokenError, type TokenAuthenticator } from './token-authenticator.ts'

export interface TokenReviewOptions {
  readonly tokens: TokenAuthenticator
  /** Used if the review names none. */
  readonly audiences: readonly string[]
}

/** Answers "Whose token is this?". The token in the answer is the requester's own, as upstream. */
export function createTokenReview(options: TokenReviewOptions): ReviewHandler {
  return {
    async review({ object, admitValid, signal }) {
      const { spec } = typed<TokenReview>(object)
      if (!spec.token)
        throw new StatusError('BadRequest', 'token is required for TokenReview in authentication')
      await admitValid()
      const asked = spec.audiences?.length ? spec.audiences : options.audiences
      // The kind is cluster-scoped.
      delete object.metadata.namespace
      return { ...object, status: await statusOf(spec.token, asked, options.tokens, signal) }
    },
  }
}

async function statusOf(
  token: string,
  audiences: readonly string[],
  tokens: TokenAuthenticator,
  signal: AbortSignal,
): Promise<NonNullable<TokenReview['status']>> {
  try {
    const found = await tokens.authenticateToken(token, audiences, signal)
    if (!found) return refused('invalid bearer token')
    return {
      authenticated: true,
      user: toApiUser(withAuthenticatedGroup(found.user)),
      audiences: [...(found.audiences ?? audiences)],
    }
  } catch (error) {
    if (!(error instanceof TokenError)) throw error
    return refused(`[invalid bearer token, ${error.message}]`)
  }
}

/** Upstream omits `authenticated` if it is false, but never omits the user. */
function refused(error: string): NonNullable<TokenReview['status']> {
  return { error, user: {} }
}

/** "Who am I?" */
export function createSelfSubjectReview(clock: Clock): ReviewHandler {
  return {
    async review({ object, user, admitValid }) {
      await admitValid()
      const answer: AnyObject = {
        ...object,
        metadata: { creationTimestamp: apiTime(clock.now()) },
        status: { userInfo: toApiUser(user) },
      }
      return answer
    },
  }
}

function toApiUser(user: UserInfo) {
  const extra = Object.entries(user.extra).map(([key, values]): [string, string[]] => [
    key,
    [...values],
  ])
  return {
    username: user.name,
    ...(user.uid ? { uid: user.uid } : {}),
    groups: [...user.groups],
    ...(extra.length === 0 ? {} : { extra: Object.fromEntries(extra) }),
  }
}
