import http2 from 'node:http2'
import type { Duplex, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import {
  abortReason,
  asError,
  checkPeerHead,
  checkPeerSwitch,
  checkPeerTrailers,
  endWith,
  fieldsOfRaw,
  fieldsOfRecord,
  peerHeadOf,
  requestOver,
  type HeaderRecord,
} from '@skerry/base'
import type { TunnelUpgraded } from '@skerry/tunnel'
import { servicesLimits } from '../limits-table.ts'

/** One request to a service, over its own connection. */
export interface ServiceRequest {
  readonly method: string
  /** The path and query. */
  readonly target: string
  readonly host: string
  readonly headers: Readonly<Record<string, string[]>>
  readonly body?: AsyncIterable<Uint8Array>
}

export interface ServiceAnswer {
  readonly status: number
  /** Checked. */
  readonly headers: HeaderRecord
  /** Undefined if the head announced that nothing follows, not even trailers. */
  readonly body: Readable | undefined
  /** Returns the checked trailers once the body has ended. Throws PeerAnswerError. */
  readonly trailers: () => HeaderRecord
}

/** Resolves with the head of the answer; owns the stream. The signal ends both, also later. */
export async function exchangeHttp1(
  stream: Duplex,
  request: ServiceRequest,
  signal: AbortSignal,
): Promise<ServiceAnswer> {
  endWith(stream, signal)
  const { response } = await requestOver(stream, toOwnRequest(request), signal)
  const { status, headers, hasBody } = orDestroy(stream, () => peerHeadOf(response, asked(request)))
  if (!hasBody) stream.destroy()
  return {
    status,
    headers,
    body: hasBody ? response : undefined,
    trailers: () => checkPeerTrailers(fieldsOfRaw(response.rawTrailers), nameOf(request)),
  }
}

function asked(request: ServiceRequest) {
  return { peer: nameOf(request), method: request.method, passesTrailers: true }
}

function nameOf({ host }: ServiceRequest): string {
  return `service ${host}`
}

function orDestroy<T>(stream: Duplex, read: () => T): T {
  try {
    return read()
  } catch (error) {
    // Nothing else listens yet: its next error would end the process.
    stream.on('error', () => undefined).destroy()
    throw error
  }
}

/** A WebSocket or another protocol that begins as HTTP/1.1. Owns the stream. */
export async function upgradeHttp1(
  stream: Duplex,
  request: ServiceRequest & { readonly protocol: string },
  signal: AbortSignal,
): Promise<TunnelUpgraded> {
  endWith(stream, signal)
  const { type, response } = await requestOver(stream, toOwnRequest(request), signal)
  if (type === 'upgrade') {
    const offered = { peer: nameOf(request), offered: request.protocol }
    const headers = orDestroy(stream, () =>
      checkPeerSwitch(fieldsOfRaw(response.rawHeaders), offered),
    )
    return { status: 101, headers, stream }
  }
  const { status, headers } = orDestroy(stream, () =>
    peerHeadOf(response, { ...asked(request), passesTrailers: false }),
  )
  return { status, headers, body: response }
}

function toOwnRequest({
  method,
  target: path,
  host,
  headers,
  body,
  protocol,
}: ServiceRequest & { readonly protocol?: string }) {
  const connection = protocol === undefined ? 'close' : 'Upgrade'
  return {
    method,
    path,
    headers: {
      ...headers,
      host,
      // RFC 9110, 10.1.4: a sender of TE also names it in Connection.
      connection: headers['te'] === undefined ? connection : `${connection}, TE`,
      ...(protocol === undefined ? {} : { upgrade: protocol }),
    },
    ...(body ? { body } : {}),
  }
}

/**
 * Uses HTTP/2 with prior knowledge (RFC 9113, 3.3): for gRPC, and other services known to speak it. Owns the
 * stream.
 */
export async function exchangeHttp2(
  stream: Duplex,
  request: ServiceRequest & { readonly isTls: boolean },
  signal: AbortSignal,
): Promise<ServiceAnswer> {
  endWith(stream, signal)
  const { windowBytes } = servicesLimits
  const scheme = request.isTls ? 'https' : 'http'
  const session = http2.connect(`${scheme}://${request.host}`, {
    createConnection: () => stream,
    settings: { enablePush: false, initialWindowSize: windowBytes },
  })
  session.once('connect', () => {
    // The service may have ended it with its first frames.
    if (!session.destroyed) session.setLocalWindowSize(windowBytes)
  })
  const { body } = request
  const call = orDestroy(stream, () => {
    // This comes before anything can throw: an unhandled error of a session would end the process.
    session.on('error', (error) => stream.destroy(error))
    // Throws if HTTP/2 cannot express it, such as a client's second content-type.
    return session.request(pseudoAnd(request, scheme), { endStream: body === undefined })
  })
  session.on('error', (error) => call.destroy(error))
  call.once('close', () => session.destroy())
  // The answer is whole: what is left of the request is not wanted.
  call.once('end', () => {
    if (!call.writableFinished) call.close(http2.constants.NGHTTP2_NO_ERROR)
  })
  let trailers: ServiceAnswer['trailers'] = () => ({})
  call.once('trailers', (late) => {
    trailers = () => checkPeerTrailers(fieldsOfRecord(late), nameOf(request))
  })
  const answer = new Promise<ServiceAnswer>((resolve, reject) => {
    call.once('response', ({ ':status': code, ...lines }, flags) => {
      const isEnd = (flags & http2.constants.NGHTTP2_FLAG_END_STREAM) !== 0
      try {
        const fields = fieldsOfRecord(lines)
        const { status, headers, hasBody } = checkPeerHead({ status: code, fields }, asked(request))
        // Nothing reads an empty body, so it would not close.
        if (isEnd) call.resume()
        else if (!hasBody) call.close(http2.constants.NGHTTP2_CANCEL)
        const body = isEnd || !hasBody ? undefined : call
        resolve({ status, headers, body, trailers: () => trailers() })
      } catch (error) {
        call.destroy(asError(error))
      }
    })
    call.on('error', (error) => reject(signal.aborted ? abortReason(signal) : error))
    call.once('close', () => reject(new Error(`it closed the stream (code ${call.rstCode ?? 0})`)))
  })
  if (body !== undefined) {
    pipeline(body, call, { end: true }).catch((error: unknown) => {
      if (!call.writableFinished && !call.closed) call.destroy(asError(error))
    })
  }
  // A session that has not begun keeps its connection for as long as the service does.
  answer.catch(() => stream.destroy())
  return answer
}

function pseudoAnd(
  { method, target, host, headers }: ServiceRequest,
  scheme: string,
): http2.OutgoingHttpHeaders {
  const own = Object.entries(headers).map(([name, values]) => [
    name,
    values.length === 1 ? values[0] : values,
  ])
  return {
    ...Object.fromEntries(own),
    ':method': method,
    ':path': target,
    ':scheme': scheme,
    ':authority': host,
  }
}
