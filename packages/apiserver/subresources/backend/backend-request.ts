import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { StatusError } from '@skerry/api'
import { messageOf, asError, abortReason, type Clock } from '@skerry/base'
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
  | {
      readonly type: 'upgrade'
      readonly response: IncomingMessage
      readonly socket: Duplex
      readonly head: Uint8Array
    }

/**
 * Sends the request and resolves with the head of the answer. The signal ends the connection, even
 * later. Throws InternalError `error dialing backend: …` if there is no connection.
 */
export async function sendToBackend(
  request: BackendRequest,
  signal: AbortSignal,
): Promise<BackendAnswer> {
  const socket = await dialOrExplain(request, signal)
  const { method, path, headers } = request
  const outgoing = over(socket, () =>
    httpRequest({
      method,
      path,
      headers: { ...headers, host: request.host },
      createConnection: () => socket,
    }),
  )
  const unsent = Promise.withResolvers<never>()
  const answer = answerOf(outgoing, unsent.promise, request.clock)
  const fail = (error: unknown): void => {
    // A request that is destroyed before it has its socket does not report the error.
    unsent.reject(asError(error))
    outgoing.destroy(asError(error))
  }
  const onAbort = (): void => fail(abortReason(signal))
  signal.addEventListener('abort', onAbort, { once: true })
  socket.once('close', () => signal.removeEventListener('abort', onAbort))
  if (signal.aborted) onAbort()
  // A body that cannot be sent gets no answer. The handler is attached here because sending may
  // fail before the next await.
  else sendBody(outgoing, request.body).catch(fail)
  try {
    // The backend may answer before it read the whole body; then the rest does not matter.
    return await answer
  } catch (error) {
    outgoing.destroy()
    // Without a request that owns the socket, nobody listens to its errors.
    socket.on('error', () => undefined).destroy()
    throw signal.aborted ? abortReason(signal) : backendError(error)
  }
}

/**
 * Node throws on values that HTTP cannot represent. The socket has no listener then, and its next
 * error would end the process.
 */
function over(socket: Duplex, make: () => ClientRequest): ClientRequest {
  try {
    return make()
  } catch (error) {
    socket.on('error', () => undefined).destroy()
    throw backendError(error)
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

/** Rejects as well if the request cannot be sent, as long as there is no answer. */
function answerOf(
  outgoing: ClientRequest,
  unsent: Promise<never>,
  clock: BackendRequest['clock'],
): Promise<BackendAnswer> {
  return new Promise((resolve, reject) => {
    const { answerHeadTimeoutMs: waitedMs } = connectLimits
    const timer = clock.setTimer(waitedMs, () => {
      outgoing.destroy(new Error(`no answer from the backend in ${waitedMs} ms`))
    })
    const settle = (): void => timer[Symbol.dispose]()
    outgoing.once('response', (response) => {
      settle()
      // The connection is for this request alone, and half-open ones do not end by themselves.
      const { socket } = response
      response.once('close', () => socket.destroy())
      resolve({ type: 'response', response })
    })
    outgoing.once('upgrade', (response, socket, head) => {
      settle()
      resolve({ type: 'upgrade', response, socket, head })
    })
    const onError = (error: unknown): void => {
      settle()
      reject(asError(error))
    }
    outgoing.on('error', onError)
    unsent.catch(onError)
  })
}

async function sendBody(
  outgoing: ClientRequest,
  body: AsyncIterable<Uint8Array> | undefined,
): Promise<void> {
  if (body) await pipeline(body, outgoing)
  else outgoing.end()
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
