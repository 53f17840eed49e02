import { request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { abortReason } from '../abort.ts'
import { asError } from '../as-error.ts'

/** One request that has a connection to itself. */
export interface OwnRequest {
  readonly method: string
  /** The path, including the query. */
  readonly path: string
  /** All of them: Host is not added. */
  readonly headers: OutgoingHttpHeaders
  readonly body?: AsyncIterable<Uint8Array>
  /** True for CONNECT to a proxy, where each answer is of type upgrade. Others may not send CONNECT. */
  readonly isConnect?: boolean
}

/**
 * The first answer of the peer: an ordinary one, or a switch of protocols. After a switch the connection is the
 * caller's, and bytes behind the head can be read from it.
 */
export interface FirstAnswer {
  readonly type: 'response' | 'upgrade'
  readonly response: IncomingMessage
}

/**
 * Sends the request over the open connection and resolves with the head of the answer. Owns the connection:
 * it ends with the response, with a body that cannot be sent, and with the signal until the answer begins.
 * The peer may answer before it has read the whole body; the rest is then sent as far as it reads. Rejects
 * with TypeError if HTTP cannot express the request, or with the reason why no answer came.
 */
export async function requestOver(
  stream: Duplex,
  request: OwnRequest,
  signal: AbortSignal,
): Promise<FirstAnswer> {
  try {
    if (signal.aborted) throw abortReason(signal)
    if (stream.destroyed) throw endOf(stream)
    const answer = await firstAnswer(stream, request, signal)
    // The caller would wait for events that are already over.
    if (answer.type === 'upgrade' && stream.destroyed) throw endOf(stream)
    return answer
  } catch (error) {
    // Nothing else may listen to it: its next error would end the process.
    stream.on('error', () => undefined).destroy()
    throw signal.aborted ? abortReason(signal) : error
  }
}

function firstAnswer(
  stream: Duplex,
  { body, isConnect = false, ...request }: OwnRequest,
  signal: AbortSignal,
): Promise<FirstAnswer> {
  const outgoing = httpRequest({ ...request, setHost: false, createConnection: () => stream })
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => {
      outgoing.destroy(asError(error))
      reject(asError(error))
    }
    const onAbort = (): void => fail(abortReason(signal))
    // A request that is destroyed before it has its connection emits nothing.
    const onClose = (): void => fail(endOf(stream))
    const settle = (answer: FirstAnswer): void => {
      signal.removeEventListener('abort', onAbort)
      stream.off('close', onClose)
      resolve(answer)
    }
    outgoing.once('response', (response) => {
      // Half-open connections do not end by themselves.
      response.once('close', () => stream.destroy())
      settle({ type: 'response', response })
    })
    const onSwitch = (response: IncomingMessage, _stream: Duplex, head: Buffer): void => {
      // Node has removed its listener, and the caller has none before its next turn: an error in between would end
      // the process.
      stream.on('error', () => undefined)
      if (head.length > 0) stream.unshift(head)
      settle({ type: 'upgrade', response })
    }
    outgoing.once('upgrade', onSwitch)
    // Without this listener, Node ends a connection whose CONNECT is answered.
    if (isConnect) outgoing.once('connect', onSwitch)
    // This stays after the answer, whose reader learns of the error as well.
    outgoing.on('error', fail)
    stream.once('close', onClose)
    signal.addEventListener('abort', onAbort, { once: true })
    if (body) pipeline(body, outgoing).catch(fail)
    else outgoing.end()
  })
}

function endOf(stream: Duplex): Error {
  return stream.errored ?? Object.assign(new Error('its connection closed'), { code: 'ECONNRESET' })
}

/** Ends the stream with the signal, for as long as it is open. */
export function endWith(stream: Duplex, signal: AbortSignal): void {
  const onAbort = (): void => void stream.destroy(abortReason(signal))
  signal.addEventListener('abort', onAbort, { once: true })
  stream.once('close', () => signal.removeEventListener('abort', onAbort))
  if (signal.aborted) onAbort()
}
