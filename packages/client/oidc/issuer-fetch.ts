import { request } from 'node:https'
import { askPeer, fieldsOfRecord, linkedSignal, type Clock, type PeerReply } from '@skerry/base'
import { clientBounds } from '../limits-table.ts'

export interface IssuerFetchOptions {
  /** PEM. If undefined, the system's authorities. */
  readonly authorityPem: string | undefined
  readonly clock: Pick<Clock, 'setTimer'>
  readonly signal: AbortSignal
}

const { answerBytesMax, answerMsMax } = clientBounds.issuerFetch

interface AskOptions {
  readonly method?: string
  readonly headers?: Record<string, string>
  /** A form or a text. */
  readonly body?: unknown
  readonly signal?: AbortSignal
}

/**
 * Does what `fetch` does, as far as a client of an issuer needs it, with its own authority. Follows
 * no redirects, so that a token reaches only its destination. Rejects if the connection is not TLS,
 * or the answer is too long or too late.
 */
export function issuerFetch({ authorityPem, clock, signal }: IssuerFetchOptions) {
  return async (url: string, options: AskOptions = {}): Promise<Response> => {
    using late = linkedSignal(signal)
    using _timer = clock.setTimer(answerMsMax, () => late.abort(lateError(url)))
    const scope = options.signal ? AbortSignal.any([late.signal, options.signal]) : late.signal
    const { method = 'GET', headers, body } = options
    const ask = {
      method,
      headers: { ...headers, connection: 'close' },
      ...(authorityPem === undefined ? {} : { ca: authorityPem }),
      signal: scope,
    }
    try {
      const reply = await askPeer({
        peer: `the issuer at ${new URL(url).host}`,
        request: () => request(url, ask),
        body: textOf(body),
        bytesMax: answerBytesMax,
      })
      return responseOf(reply)
    } catch (error) {
      throw scope.aborted ? scope.reason : error
    }
  }
}

function lateError(url: string): Error {
  return new Error(`${new URL(url).host} did not answer in ${answerMsMax} ms`)
}

function textOf(body: unknown): string {
  if (body === undefined || body === null) return ''
  if (typeof body === 'string') return body
  if (body instanceof URLSearchParams) return body.toString()
  throw new TypeError('Cannot ask issuer: the body is neither a form nor text')
}

function responseOf({ status, headers, bytes }: PeerReply): Response {
  const fields = new Headers()
  for (const [name, value] of fieldsOfRecord(headers)) fields.append(name, value)
  // A Response with status 204 must not have a body, not even an empty one.
  return new Response(bytes.length > 0 ? new Uint8Array(bytes) : null, { status, headers: fields })
}
