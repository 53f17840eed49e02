import { request } from 'node:https'
import { askPeer, fieldsOfRecord, type PeerReply } from '@skerry/base'
import { clientBounds } from '../client-limits.ts'

export interface IssuerFetchOptions {
  /** PEM; absent: the authorities of the system. */
  readonly authorityPem: string | undefined
  readonly signal: AbortSignal
}

const { answerBytesMax, answerMsMax } = clientBounds.issuerFetch

interface AskOptions {
  readonly method?: string
  readonly headers?: Record<string, string>
  /** A form, or text. */
  readonly body?: unknown
  readonly signal?: AbortSignal
}

/**
 * What `fetch` does, as far as a client of an issuer needs it, with an authority of its own. Follows no
 * redirects: a token goes where it was meant to go. Rejects for what is not TLS, too long or too late.
 */
export function issuerFetch({ authorityPem, signal }: IssuerFetchOptions) {
  return async (url: string, options: AskOptions = {}): Promise<Response> => {
    const signals = [signal, AbortSignal.timeout(answerMsMax), options.signal]
    const scope = AbortSignal.any(signals.filter((each) => each !== undefined))
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
