import { createHash } from 'node:crypto'
import { isJsonObject, type JsonObject } from '@skerry/api'
import { asError, type Clock, type Logger } from '@skerry/base'
import type { AuthenticatedUser } from '../contract/access.ts'
import { BoundedCache } from '../authn/bounded-cache.ts'
import { TokenError, type TokenAuthenticator } from '../authn/token-authenticator.ts'
import { accessWebhookLimits as limits } from '../limits-table.ts'
import type { PostReview } from './post-review.ts'

export interface TokenWebhookOptions {
  readonly version: 'v1' | 'v1beta1'
  /** How long a verdict, good or bad, is cached. Failures are not cached. */
  readonly cacheMs: number
  /** The audiences of a token whose review names none. */
  readonly audiences: readonly string[]
}

type Outcome =
  | { readonly type: 'user'; readonly found: AuthenticatedUser }
  | { readonly type: 'unknown' }

/** Creates an authenticator that asks a webhook whose token it is (TokenReview). */
export function createTokenWebhook(
  post: PostReview,
  options: TokenWebhookOptions,
  { clock, log }: { clock: Clock; log: Logger },
): TokenAuthenticator {
  const { cacheMs: ttlMs, version } = options
  const known = new BoundedCache<Outcome>({ entriesMax: limits.cachedMax, ttlMs }, clock)
  const ask = async (token: string, audiences: readonly string[], signal: AbortSignal) => {
    const review = {
      apiVersion: `authentication.k8s.io/${version}`,
      kind: 'TokenReview',
      metadata: {},
      spec: { token, ...(audiences.length > 0 ? { audiences: [...audiences] } : {}) },
    }
    try {
      return outcomeOf(await post(review, signal), audiences, options.audiences)
    } catch (error) {
      if (error instanceof TokenError || signal.aborted) throw error
      const cause = asError(error)
      log.error('Authentication webhook failed', { error: cause })
      throw new TokenError(cause.message, { cause })
    }
  }
  return {
    async authenticateToken(token, audiences, signal) {
      // Tokens are hashed so that the cache holds no usable ones.
      const key = createHash('sha256')
        .update(JSON.stringify([token, audiences]))
        .digest('base64')
      const outcome = known.get(key) ?? (await ask(token, audiences, signal))
      known.set(key, outcome)
      return outcome.type === 'user' ? outcome.found : undefined
    },
  }
}

function outcomeOf(
  status: JsonObject,
  wanted: readonly string[],
  implicit: readonly string[],
): Outcome {
  const named = textsOf(status.audiences)
  const got = named.length > 0 ? named : implicit
  const audiences = wanted.filter((audience) => got.includes(audience))
  if (wanted.length > 0 && audiences.length === 0) return { type: 'unknown' }
  if (status.authenticated !== true) {
    if (typeof status.error === 'string' && status.error !== '') throw new TokenError(status.error)
    return { type: 'unknown' }
  }
  const { username, uid, groups, extra } = isJsonObject(status.user) ? status.user : {}
  const user = {
    name: typeof username === 'string' ? username : '',
    groups: textsOf(groups),
    extra: Object.fromEntries(
      Object.entries(isJsonObject(extra) ? extra : {}).map(([key, values]) => [
        key,
        textsOf(values),
      ]),
    ),
    ...(typeof uid === 'string' && uid !== '' ? { uid } : {}),
  }
  return { type: 'user', found: { user, audiences } }
}

function textsOf(value: unknown): string[] {
  if (!Array.isArray(value)) return []
  return value.filter((each) => typeof each === 'string')
}
