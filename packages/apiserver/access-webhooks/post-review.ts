import { checkFields } from '@skerry/bodies'
import { isJsonObject, type JsonObject } from '@skerry/api'
import { messageOf, type Clock, type Random } from '@skerry/base'
import type { Transport } from '@skerry/client'
import { postJson } from './post-json.ts'
import { reviewSchemas } from './review-schema-table.ts'
import { accessWebhookLimits } from '../limits-table.ts'

/** Asks a webhook. Resolves with the `status` of the review in its answer. */
export type PostReview = (review: JsonObject, signal: AbortSignal) => Promise<JsonObject>

export interface PostReviewDeps {
  /** The webhook's name in errors. */
  readonly peer: string
  readonly clock: Clock
  readonly random: Random
}

/** All tries together take `timeoutMs` at most. Rejects with an Error that describes the last answer. */
export function createPostReview(
  transport: Transport,
  timeoutMs: number,
  deps: PostReviewDeps,
): PostReview {
  const options = { timeoutMs, retryMs: accessWebhookLimits.retryMs }
  return async (review, signal) => {
    const text = await postJson(JSON.stringify(review), options, { transport, ...deps }, signal)
    try {
      return statusOf(JSON.parse(text), String(review['kind']))
    } catch (error) {
      throw new Error(`${deps.peer}: ${messageOf(error)}`, { cause: error })
    }
  }
}

/** Throws an Error if a field has the wrong type: a malformed denial must count as a failure, not as no opinion. */
function statusOf(answer: unknown, kind: string): JsonObject {
  if (!isJsonObject(answer)) throw new Error(`its answer is not a ${kind}`)
  checkFields({ object: answer, schemas: reviewSchemas, schemaName: kind, kind })
  return isJsonObject(answer['status']) ? answer['status'] : {}
}
