import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { answerTo, fieldsOfRecord, peerHeadOf } from '@skerry/base'

export interface IssuerFetchOptions {
  /** PEM; absent: the authorities of the system. */
  readonly authorityPem: string | undefined
  readonly signal: AbortSignal
}

/** Documents and answers of an issuer are small. */
const answerBytesMax = 1024 * 1024
const answerMsMax = 30_000

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
    const peer = `the issuer at ${new URL(url).host}`
    const asked = request(url, {
      method: options.method ?? 'GET',
      headers: { ...options.headers, connection: 'close' },
      ...(authorityPem === undefined ? {} : { ca: authorityPem }),
      signal: scope,
    })
    const answered = answerTo(asked, peer)
    asked.end(textOf(options.body))
    try {
      const answer = await answered
      return responseOf(answer, await wholeBody(answer), peer)
    } catch (error) {
      asked.destroy()
      throw scope.aborted ? scope.reason : error
    }
  }
}

async function wholeBody(answer: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const chunk of answer) {
    const piece = Buffer.from(chunk)
    bytes += piece.length
    if (bytes > answerBytesMax) throw new Error('its answer is too long')
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

function textOf(body: unknown): string {
  if (body === undefined || body === null) return ''
  if (typeof body === 'string') return body
  if (body instanceof URLSearchParams) return body.toString()
  throw new TypeError('Cannot ask issuer: the body is neither a form nor text')
}

/** Throws PeerAnswerError for a head that is none. */
function responseOf(answer: IncomingMessage, bytes: Buffer, peer: string): Response {
  const { status, headers, hasBody } = peerHeadOf(answer, { peer })
  const fields = new Headers()
  for (const [name, value] of fieldsOfRecord(headers)) fields.append(name, value)
  return new Response(hasBody ? new Uint8Array(bytes) : null, { status, headers: fields })
}
