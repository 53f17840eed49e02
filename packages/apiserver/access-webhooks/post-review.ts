import { isJsonObject, type JsonObject } from '@skerry/api'
import type { Clock, Random } from '@skerry/base'
import type { Transport } from '@skerry/client'
import { accessWebhookLimits } from './access-webhook-limits-table.ts'
import { postJson } from './post-json.ts'

/** Asks a webhook; resolves with the `status` of the review that it answers. */
export type PostReview = (review: JsonObject, signal: AbortSignal) => Promise<JsonObject>

export interface PostReviewDeps {
  readonly clock: Clock
  readonly random: Random
}

/** Every try together takes `timeoutMs` at most. Rejects with Error that says what came back. */
export function createPostReview(
  transport: Transport,
  timeoutMs: number,
  deps: PostReviewDeps,
): PostReview {
  const options = { timeoutMs, retryMs: accessWebhookLimits.retryMs }
  return async (review, signal) => {
    const { clock, random } = deps
    const text = await postJson(
      JSON.stringify(review),
      options,
      { transport, clock, random },
      signal,
    )
    const answer: unknown = JSON.parse(text)
    return isJsonObject(answer) && isJsonObject(answer.status) ? answer.status : {}
  }
}
