import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'

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
    return new Promise((resolve, reject) => {
      const asked = request(
        url,
        {
          method: options.method ?? 'GET',
          headers: { ...options.headers, connection: 'close' },
          ...(authorityPem === undefined ? {} : { ca: authorityPem }),
          signal: scope,
        },
        (answer) => {
          const pieces: Buffer[] = []
          let bytes = 0
          answer.on('data', (piece: Buffer) => {
            bytes += piece.length
            if (bytes > answerBytesMax) answer.destroy(new Error('its answer is too long'))
            else pieces.push(piece)
          })
          answer.on('error', reject)
          answer.once('end', () => {
            try {
              resolve(responseOf(answer, Buffer.concat(pieces)))
            } catch (error) {
              reject(error)
            }
          })
        },
      )
      asked.on('error', (error) => reject(scope.aborted ? scope.reason : error))
      asked.end(textOf(options.body))
    })
  }
}

function textOf(body: unknown): string {
  if (body === undefined || body === null) return ''
  if (typeof body === 'string') return body
  if (body instanceof URLSearchParams) return body.toString()
  throw new TypeError('Cannot ask issuer: the body is neither a form nor text')
}

/** Throws RangeError for a status that is none. */
function responseOf({ statusCode = 0, headers }: IncomingMessage, bytes: Buffer): Response {
  const fields = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    for (const each of [value ?? []].flat()) fields.append(name, each)
  }
  const hasBody = ![204, 205, 304].includes(statusCode)
  return new Response(hasBody ? new Uint8Array(bytes) : null, {
    status: statusCode,
    headers: fields,
  })
}
