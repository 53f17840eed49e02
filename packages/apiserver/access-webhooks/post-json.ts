import {
  asError,
  createBackoff,
  linkedSignal,
  messageOf,
  type Clock,
  type Random,
} from '@skerry/base'
import { readBody, type Transport } from '@skerry/client'
import { accessWebhookLimits as limits } from '../limits-table.ts'

export interface PostJsonOptions {
  /** The timeout of all tries together. */
  readonly timeoutMs: number
  /** The delay before the second try; later ones wait longer. */
  readonly retryMs: number
}

export interface PostJsonDeps {
  /** The webhook's name in errors. */
  readonly peer: string
  readonly transport: Transport
  readonly clock: Clock
  readonly random: Random
}

/** Returns the body of a 2xx answer. Retries transient failures; rejects with an Error that names the webhook. */
export async function postJson(
  text: string,
  options: PostJsonOptions,
  deps: PostJsonDeps,
  signal: AbortSignal,
): Promise<string> {
  using scope = linkedSignal(signal)
  using _timer = deps.clock.setTimer(options.timeoutMs, () =>
    scope.abort(new Error('context deadline exceeded')),
  )
  try {
    return await postUntilAnswered(Buffer.from(text), options, deps, scope.signal)
  } catch (error) {
    if (signal.aborted) throw error
    throw new Error(`${deps.peer}: ${messageOf(error)}`, { cause: error })
  }
}

async function postUntilAnswered(
  body: Uint8Array,
  { retryMs: initialMs }: PostJsonOptions,
  { transport, clock, random }: PostJsonDeps,
  signal: AbortSignal,
): Promise<string> {
  const { retryFactor: factor, retryJitter: jitter } = limits
  const backoff = createBackoff({ initialMs, factor, jitter }, random)
  for (let attempt = 1; ; attempt += 1) {
    const answer = await tryOnce(transport, body, signal)
    if (answer.type === 'answered') return answer.text
    if (attempt >= limits.attemptsMax || !answer.mayRetry || signal.aborted) throw answer.error
    await clock.sleep(backoff.nextMs(), signal)
  }
}

type Attempt =
  | { readonly type: 'answered'; readonly text: string }
  | { readonly type: 'failed'; readonly error: Error; readonly mayRetry: boolean }

async function tryOnce(
  transport: Transport,
  body: Uint8Array,
  signal: AbortSignal,
): Promise<Attempt> {
  try {
    const headers = { accept: 'application/json', 'content-type': 'application/json' }
    const request = { method: 'POST', path: '', headers, body, isRepeatable: true } as const
    const { status, body: answer } = await transport.send(request, signal)
    const text = (await readBody(answer, limits.answerBytesMax)).toString('utf8')
    if (status >= 200 && status < 300) return { type: 'answered', text }
    const error = new Error(`it answered ${status}: ${text.slice(0, 500).trim()}`)
    return { type: 'failed', error, mayRetry: status === 429 || status >= 500 }
  } catch (error) {
    const cause = asError(error)
    const mayRetry = 'code' in cause && retriedCodes.has(String(cause.code))
    return { type: 'failed', error: cause, mayRetry }
  }
}

/** The connection broke. The webhook may have seen the request, which does no harm. */
const retriedCodes: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE'])
