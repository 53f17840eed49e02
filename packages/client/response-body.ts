import {
  StatusError,
  codeOfReason,
  isErrorCode,
  retryAfterSecondsMax,
  statusDetailsOf,
  type StatusReason,
} from '@skerry/api'
import { clientLimits } from './limits-table.ts'
import type { TransportResponse } from './transport.ts'

/** Reads the whole body, at most `bytesMax`. */
export async function readBody(
  body: AsyncIterable<Uint8Array>,
  bytesMax: number = clientLimits.bodyBytesMax,
): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) throw new RangeError(`Cannot read answer: it is above ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, bytes)
}

/** Parses a successful answer. Throws the StatusError of any other. */
export async function readAnswer(response: TransportResponse): Promise<unknown> {
  const bytes = await readBody(response.body)
  if (response.status >= 200 && response.status < 300) return parseAnswer(bytes, response)
  throw statusErrorOf(response, bytes.toString('utf8'))
}

function parseAnswer(bytes: Buffer, { status, headers }: TransportResponse): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch (cause) {
    const type = headers['content-type'] ?? 'of no type'
    const text = `Cannot read answer: ${status} came with ${type}, not with JSON; something else than an API server answers there, such as a captive portal or a proxy`
    throw new Error(text, { cause })
  }
}

/** Yields lines without their newline, including a last line without one. */
export async function* readLines(
  body: AsyncIterable<Uint8Array>,
  bytesMax: number = clientLimits.watchLineBytesMax,
): AsyncGenerator<string, void, undefined> {
  let parts: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    let start = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      parts.push(chunk.subarray(start, end))
      yield textOf(parts)
      parts = []
      bytes = 0
      start = end + 1
    }
    if (start === chunk.byteLength) continue
    parts.push(chunk.subarray(start))
    bytes += chunk.byteLength - start
    if (bytes > bytesMax) throw new RangeError(`Cannot read line: it is above ${bytesMax} bytes`)
  }
  if (parts.length > 0) yield textOf(parts)
}

function textOf(parts: readonly Uint8Array[]): string {
  return (parts.length === 1 && parts[0] ? Buffer.from(parts[0]) : Buffer.concat(parts)).toString(
    'utf8',
  )
}

/** Returns the error of a non-2xx answer; proxies answer in plain text, so there may be no Status. */
export function statusErrorOf(
  response: Pick<TransportResponse, 'status' | 'headers'>,
  text: string,
): StatusError {
  const parsed = parseObject(text)
  const retryAfter = response.headers['retry-after'] ?? ''
  const isRetryKnown = /^\d+$/.test(retryAfter)
  const retryAfterSeconds = Math.min(Number(retryAfter), retryAfterSecondsMax)
  if (parsed?.['kind'] === 'Status') {
    const error = statusErrorFrom(parsed, response.status)
    if (!isRetryKnown || error.details?.retryAfterSeconds !== undefined) return error
    const details = { ...error.details, retryAfterSeconds }
    return new StatusError(error.reason, error.message, { code: error.code, details })
  }
  const message = `Unexpected answer: HTTP ${response.status}: ${text.trim().slice(0, 1000)}`
  return new StatusError(reasonOfCode(response.status), message, {
    code: response.status,
    ...(isRetryKnown ? { details: { retryAfterSeconds } } : {}),
  })
}

/** Rebuilds the error from a metav1.Status object, e.g. of a watch's ERROR event. */
export function statusErrorFrom(status: Record<string, unknown>, httpCode = 500): StatusError {
  const code = isErrorCode(status['code']) ? status['code'] : httpCode
  const reason = isReason(status['reason']) ? status['reason'] : reasonOfCode(code)
  const message = typeof status['message'] === 'string' ? status['message'] : `HTTP ${code}`
  return new StatusError(reason, message, { code, ...statusDetailsOf(status['details']) })
}

function isReason(value: unknown): value is StatusReason {
  return typeof value === 'string' && Object.hasOwn(codeOfReason, value)
}

const reasonsByCode: Readonly<Record<number, StatusReason>> = Object.freeze({
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Gone',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
})

function reasonOfCode(code: number): StatusReason {
  return reasonsByCode[code] ?? 'Unknown'
}

function parseObject(text: string): Record<string, unknown> | undefined {
  if (!text.startsWith('{')) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined // not JSON after all: the caller shows the text itself
  }
}
