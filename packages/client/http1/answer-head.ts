import { isFieldName, isFieldValue } from '@skerry/base'

/** Reports that bytes are not an answer that can be trusted. Their connection cannot be used any more. */
export class BadAnswerError extends Error {
  override name = 'BadAnswerError'
  constructor(why: string) {
    super(`Cannot read answer: ${why}`)
  }
}

/** Headers by lower-case names. A name that occurs more than once has an array, in order. */
export type AnswerHeaders = Readonly<Record<string, string | readonly string[]>>

export interface AnswerHead {
  readonly status: number
  readonly headers: AnswerHeaders
  /** The body's length in bytes, or how its end is marked. */
  readonly body: number | 'chunked' | 'until-close'
  /** True if the connection takes another request afterwards. */
  readonly isKept: boolean
  /** How long the server keeps an unused connection, if it says so. */
  readonly idleMs: number | undefined
}

const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/

/**
 * Parses the lines of an answer's head, without the empty one at its end (RFC 9112, sections 4 to
 * 6). Throws BadAnswerError if two readers could interpret it differently: two lengths, a length
 * together with chunks, folded lines, spaces before a colon.
 */
export function parseAnswerHead(text: string, isHead: boolean): AnswerHead {
  const [first = '', ...lines] = text.split('\r\n')
  const [, minor, digits] = statusLine.exec(first) ?? []
  if (digits === undefined) throw new BadAnswerError('bad status line')
  const status = Number(digits)
  if (status > 599) throw new BadAnswerError(`its status ${status} is not one from 200 to 599`)
  const headers = parseFields(lines)
  const framing = framingOf(headers, minor === '1')
  const hasNoBody = isHead || status < 200 || status === 204 || status === 304
  const body = hasNoBody ? 0 : framing
  const tokens = listOf(headers['connection'])
  const isKept = minor === '1' && body !== 'until-close' && !tokens.includes('close')
  return { status, headers, body, isKept, idleMs: idleOf(headers['keep-alive']) }
}

/** Parses the fields of a head or of trailers. */
export function parseFields(lines: readonly string[]): AnswerHeaders {
  // The object has no prototype, because a header may be named `constructor`.
  const headers: Record<string, string | string[]> = Object.create(null)
  for (const line of lines) {
    const colon = line.indexOf(':')
    const rawName = line.slice(0, Math.max(0, colon))
    if (!isFieldName(rawName)) throw new BadAnswerError('bad header name')
    const name = rawName.toLowerCase()
    const value = trimmed(line, colon + 1)
    if (!isFieldValue(value)) throw new BadAnswerError(`bad value of header ${name}`)
    const known = headers[name]
    if (known === undefined) headers[name] = value
    else if (typeof known === 'string') headers[name] = [known, value]
    else known.push(value)
  }
  return headers
}

/** Removes spaces and tabs around a value; String.trim() would remove more. */
function trimmed(line: string, start: number): string {
  let from = start
  let to = line.length
  while (from < to && isBlank(line.charCodeAt(from))) from += 1
  while (to > from && isBlank(line.charCodeAt(to - 1))) to -= 1
  return line.slice(from, to)
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}

function framingOf(headers: AnswerHeaders, isNew: boolean): AnswerHead['body'] {
  const coding = headers['transfer-encoding']
  const length = headers['content-length']
  if (coding !== undefined) {
    if (length !== undefined) throw new BadAnswerError('both content-length and transfer-encoding')
    const isChunked = typeof coding === 'string' && coding.toLowerCase() === 'chunked'
    if (!isChunked || !isNew) throw new BadAnswerError('bad transfer-encoding')
    return 'chunked'
  }
  if (length === undefined) return 'until-close'
  if (typeof length !== 'string' || !/^\d{1,15}$/.test(length)) {
    throw new BadAnswerError('bad content-length')
  }
  return Number(length)
}

function listOf(value: string | readonly string[] | undefined): readonly string[] {
  if (value === undefined) return []
  const text = typeof value === 'string' ? value : value.join(',')
  return text.split(',').map((one) => one.trim().toLowerCase())
}

function idleOf(value: string | readonly string[] | undefined): number | undefined {
  const seconds = /(?:^|[,;\s])timeout=(\d{1,9})/i.exec(String(value ?? ''))?.[1]
  return seconds === undefined ? undefined : Number(seconds) * 1_000
}
