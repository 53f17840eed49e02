import { isJsonObject, type JsonObject } from '@skerry/api'
import { createBackoff, linkedSignal, type Clock, type Random } from '@skerry/base'
import { readBody, type Transport, type TransportResponse } from '@skerry/client'
import { accessWebhookLimits as limits } from './access-webhook-limits-table.ts'

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
  { clock, random }: PostReviewDeps,
): PostReview {
  return async (review, signal) => {
    using scope = linkedSignal(signal)
    using _timer = clock.setTimer(timeoutMs, () =>
      scope.abort(new Error('context deadline exceeded')),
    )
    const { retryMs: initialMs, retryFactor: factor, retryJitter: jitter } = limits
    const backoff = createBackoff({ initialMs, factor, jitter }, random)
    const body = Buffer.from(JSON.stringify(review))
    for (let attempt = 1; ; attempt += 1) {
      const answer = await tryOnce(transport, body, scope.signal)
      if (answer.type === 'answered') return answer.status
      if (attempt >= limits.attemptsMax || !answer.mayRetry || scope.signal.aborted) {
        throw answer.error
      }
      await clock.sleep(backoff.nextMs(), scope.signal)
    }
  }
}

type Attempt =
  | { readonly type: 'answered'; readonly status: JsonObject }
  | { readonly type: 'failed'; readonly error: Error; readonly mayRetry: boolean }

async function tryOnce(
  transport: Transport,
  body: Uint8Array,
  signal: AbortSignal,
): Promise<Attempt> {
  try {
    const headers = { accept: 'application/json', 'content-type': 'application/json' }
    const response = await transport.send({ method: 'POST', path: '', headers, body }, signal)
    return await answered(response)
  } catch (error) {
    const cause = error instanceof Error ? error : new Error(String(error))
    const mayRetry = 'code' in cause && (cause.code === 'ECONNRESET' || cause.code === 'EPIPE')
    return { type: 'failed', error: cause, mayRetry }
  }
}

async function answered(response: TransportResponse): Promise<Attempt> {
  const { status } = response
  const text = (await readBody(response.body, limits.answerBytesMax)).toString('utf8')
  if (status < 200 || status > 299) {
    const error = new Error(`webhook answered ${status}: ${text.slice(0, 500).trim()}`)
    return { type: 'failed', error, mayRetry: status === 429 || status >= 500 }
  }
  const value: unknown = JSON.parse(text)
  const found = isJsonObject(value) ? value.status : undefined
  return { type: 'answered', status: isJsonObject(found) ? found : {} }
}
