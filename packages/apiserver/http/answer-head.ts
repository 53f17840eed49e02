import type { ServerResponse } from 'node:http'
import { isFieldName, isFieldValue, type Logger } from '@skerry/base'
import type { ApiAnswer } from '../contract/exchange.ts'

type Headers = Record<string, string | string[]>

/** An answer's head that any version of HTTP can represent. */
export interface AnswerHead {
  /** From 200 to 599. */
  readonly status: number
  readonly headers: Headers
}

/**
 * Checks every head that a client reads. A status that is not final (RFC 9110, section 15) becomes
 * 500, as clients should treat it; a header that would split a message or cannot be written is left
 * out. Both are logged as errors. Throwing instead would answer 500 to a request that has been
 * carried out, and end the connection of the requests behind it.
 */
export function answerHead(
  { status, headers }: Pick<ApiAnswer, 'status' | 'headers'>,
  log: Logger,
): AnswerHead {
  const isFinal = Number.isInteger(status) && status >= 200 && status <= 599
  if (!isFinal) log.error('Answer had an invalid HTTP status', { status })
  return { status: isFinal ? status : 500, headers: writableHeaders(headers, log) }
}

/** Checks trailers in the same way. Each character of a value is a byte. */
export function writableHeaders(headers: ApiAnswer['headers'], log: Logger): Headers {
  // The object has no prototype, because a header may be named `__proto__`.
  const out: Headers = Object.create(null)
  for (const name in headers) {
    const value = headers[name] ?? ''
    const isWritable =
      isFieldName(name) &&
      (typeof value === 'string' ? isFieldValue(value) : value.every(isFieldValue))
    if (!isWritable) log.error('Header cannot be written', { name: JSON.stringify(name) })
    else out[name] = typeof value === 'string' ? value : [...value]
  }
  return out
}

/**
 * Trailers require chunked encoding (RFC 9112, section 7.1.2), so they are not sent over HTTP/1.0
 * or after HEAD.
 */
export function announced(headers: Headers, { req }: ServerResponse): Headers {
  if (req.httpVersion === '1.0' || req.method === 'HEAD' || 'content-length' in headers) {
    delete headers['trailer']
  }
  return headers
}
