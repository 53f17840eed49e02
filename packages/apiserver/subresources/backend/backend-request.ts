import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { StatusError } from '@skerry/api'
import { abortReason, endWith, messageOf, requestOver, withTimeout, type Clock } from '@skerry/base'
import { connectLimits } from '../../limits-table.ts'

/** One request to a kubelet, pod or service. */
export interface BackendRequest {
  readonly method: string
  /** The path, including the query. */
  readonly path: string
  /** The Host header. It also names the backend in messages. */
  readonly host: string
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly body?: AsyncIterable<Uint8Array>
  readonly dial: (signal: AbortSignal) => Promise<Duplex>
  /** Bounds the time until the answer begins. */
  readonly clock: Pick<Clock, 'setTimer'>
}

/** The first answer of the backend: an ordinary one, or a switch of protocols. */
export type BackendAnswer =
  | { readonly type: 'response'; readonly response: IncomingMessage }
  | { readonly type: 'upgrade'; readonly response: IncomingMessage; readonly socket: Duplex }

/**
 * Sends the request and resolves with the head of the answer. The signal ends the connection, even
 * later. Throws InternalError `error dialing backend: …` if there is no connection.
 */
export async function sendToBackend(
  request: BackendRequest,
  signal: AbortSignal,
): Promise<BackendAnswer> {
  const socket = await dialOrExplain(request, signal)
  const { method, path, body, clock } = request
  const headers = { ...request.headers, host: request.host }
  const asked = { method, path, headers, ...(body ? { body } : {}) }
  const { answerHeadTimeoutMs: ms } = connectLimits
  const message = `no answer from the backend in ${ms} ms`
  try {
    const answer = await withTimeout({ ms, message, clock }, signal, (scope) =>
      requestOver(socket, asked, scope),
    )
    const { type, response } = answer
    endWith(socket, signal)
    return type === 'upgrade' ? { type, response, socket } : { type, response }
  } catch (error) {
    throw signal.aborted ? abortReason(signal) : backendError(error)
  }
}

async function dialOrExplain(request: BackendRequest, signal: AbortSignal): Promise<Duplex> {
  try {
    return await request.dial(signal)
  } catch (error) {
    if (signal.aborted) throw abortReason(signal)
    throw backendError(error)
  }
}

export function backendError(cause: unknown): StatusError {
  if (cause instanceof StatusError) return cause
  const why = messageOf(cause)
  return new StatusError('InternalError', `error dialing backend: ${why}`, { cause })
}

/** Reads the first bytes of an answer's body as text, for messages. */
export async function readErrorText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response) {
    const bytes = Buffer.from(chunk)
    chunks.push(bytes)
    size += bytes.length
    if (size >= connectLimits.errorBodyBytesMax) break
  }
  return Buffer.concat(chunks).subarray(0, connectLimits.errorBodyBytesMax).toString('utf8')
}
