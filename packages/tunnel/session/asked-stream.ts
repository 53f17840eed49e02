import { abortReason, asError } from '@skerry/base'
import { resetCodes } from '../frame/tunnel-frame.ts'
import { parseAnswer, type AnsweredRequest, type ParsedAnswer } from '../frame/tunnel-head.ts'
import {
  TunnelClosedError,
  TunnelStreamError,
  WholeBody,
  wholeBytesMax,
  type TunnelRequest,
  type TunnelResponse,
} from '../frame/tunnel-message.ts'
import type { AnswerProbe } from './answer-probe.ts'
import { readableOf, sendBody } from './stream-adapter.ts'
import type { TunnelStream } from './tunnel-stream.ts'

/** The end of a tunnel that asks. */
export interface Asker {
  /** The other end's name in errors: `the agent` or `the hub`. */
  readonly peer: string
  /** Why the tunnel ended, or does not answer; undefined while it is open. */
  readonly endReason: () => string | undefined
  /** Finds out soon whether the link is alive. If omitted, its pings do. */
  readonly probe?: AnswerProbe<TunnelStream>
}

/** Cancels the stream when the signal aborts. */
export function followSignal(stream: TunnelStream, signal: AbortSignal): void {
  const onAbort = (): void => stream.reset(resetCodes.cancel)
  signal.addEventListener('abort', onAbort, { once: true })
  stream.whenOver(() => signal.removeEventListener('abort', onAbort))
}

/** Sends the request's body, and resolves with the answer's head and its body as it comes. */
export async function exchange(
  stream: TunnelStream,
  { method, body }: Pick<TunnelRequest, 'method' | 'body'>,
  asker: Asker,
  signal: AbortSignal,
): Promise<TunnelResponse> {
  const answered = answerOf(stream, { method, protocol: undefined }, asker, signal)
  if (body instanceof Uint8Array) {
    stream.write(body)
    stream.end()
  } else if (body !== undefined) {
    sendBody(body, stream).catch((error: unknown) => {
      // Half a body must not look whole.
      const cause = asError(error)
      stream.reset(resetCodes.internal, cause)
    })
  }
  const { status, headers, hasBody } = await answered
  const whole = stream.readWhole(wholeBytesMax)
  if (!hasBody) return withoutBody(stream, { status, headers })
  if (whole) return { status, headers, body: new WholeBody(whole) }
  return { status, headers, body: readableOf(stream, () => streamFault(stream, asker, signal)) }
}

export function answerOf(
  stream: TunnelStream,
  asked: AnsweredRequest,
  asker: Asker,
  signal: AbortSignal,
): Promise<ParsedAnswer> {
  const { probe } = asker
  return new Promise((resolve, reject) => {
    let isAnswered = false
    probe?.begin(stream)
    stream.whenOver(() => {
      probe?.end(stream)
      // An error with its stack for each stream would be a tenth of a request.
      if (!isAnswered) reject(streamFault(stream, asker, signal))
    })
    stream.onHead = (lines) => {
      isAnswered = true
      probe?.end(stream)
      try {
        resolve(parseAnswer(lines, asked, asker.peer))
      } catch (error) {
        stream.reset(resetCodes.cancel)
        reject(asError(error))
      }
    }
  })
}

/** Drops a body that must not exist: it would block the next request of a client's connection. */
export function withoutBody(
  stream: TunnelStream,
  head: Omit<TunnelResponse, 'body'>,
): TunnelResponse {
  stream.reset(resetCodes.cancel)
  return { ...head, body: new WholeBody(new Uint8Array(0)) }
}

export function streamFault(stream: TunnelStream, asker: Asker, signal: AbortSignal): Error {
  if (signal.aborted) return abortReason(signal)
  const cut = stream.state.name === 'cut' ? stream.state : undefined
  const cause = cut?.fault
  if (cause instanceof TunnelClosedError) return cause
  const isRefused = cut?.resetCode === resetCodes.refused
  const ended = asker.endReason()
  if (ended !== undefined || isRefused) {
    const reason = ended ?? (isRefused ? `${asker.peer} refused the stream` : 'it ended')
    return new TunnelClosedError(reason, { isSent: !isRefused })
  }
  if (cause) return new TunnelStreamError(`Cannot send request: ${cause.message}`, { cause })
  const text = `Cannot read answer: ${asker.peer} reset the stream (code ${cut?.resetCode ?? 'none'})`
  return new TunnelStreamError(text)
}
