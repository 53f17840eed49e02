/** One answer as it was on an HTTP/1.1 connection. */
export interface WireAnswer {
  readonly status: number
  /** The headers by lower-case name; values of one name are joined with a comma. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * Reads a client's end of a connection as strictly as RFC 9112 has it: the answers to `methods`, in order. An answer
 * that the end of the bytes cuts short is left out; what no client could read is an error.
 */
export function readAnswers(bytes: Buffer, methods: readonly string[]): WireAnswer[] {
  const found: WireAnswer[] = []
  let rest = bytes.toString('latin1')
  for (const method of methods) {
    const answer = readOne(rest, method)
    if (!answer) return found
    found.push(answer.answer)
    rest = answer.rest
  }
  if (rest !== '') throw new Error(`Cannot read answers: bytes nobody asked for: ${head(rest)}`)
  return found
}

function readOne(text: string, method: string): { answer: WireAnswer; rest: string } | undefined {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [first = '', ...lines] = text.slice(0, end).split('\r\n')
  const digits = /^HTTP\/1\.1 ([2-5]\d\d) [\t\x20-\x7e]*$/.exec(first)?.[1]
  if (digits === undefined) throw new Error(`Cannot read answers: no status line: ${head(text)}`)
  const status = Number(digits)
  const headers = headersOf(lines)
  const rest = text.slice(end + 4)
  const hasNone = method === 'HEAD' || status === 204 || status === 304
  const framed = hasNone ? { body: '', rest } : readBody(rest, headers)
  return framed && { answer: { status, headers, body: framed.body }, rest: framed.rest }
}

function headersOf(lines: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const [, name = '', value = ''] = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[\t ]*(.*)$/.exec(line) ?? []
    if (name === '') throw new Error(`Cannot read answers: no header: ${line}`)
    const known = headers[name.toLowerCase()]
    headers[name.toLowerCase()] = known === undefined ? value : `${known}, ${value}`
  }
  return headers
}

function readBody(
  text: string,
  headers: Readonly<Record<string, string>>,
): { body: string; rest: string } | undefined {
  const { 'content-length': length, 'transfer-encoding': coding } = headers
  if (length !== undefined && coding !== undefined) {
    throw new Error('Cannot read answers: a length and pieces')
  }
  if (coding !== undefined) return readPieces(text)
  // The body lasts until the connection ends.
  if (length === undefined) return { body: text, rest: '' }
  if (!/^\d+$/.test(length)) throw new Error(`Cannot read answers: length ${length}`)
  const bytes = Number(length)
  return text.length < bytes ? undefined : { body: text.slice(0, bytes), rest: text.slice(bytes) }
}

function readPieces(text: string): { body: string; rest: string } | undefined {
  let body = ''
  for (let at = 0; ;) {
    const lineEnd = text.indexOf('\r\n', at)
    if (lineEnd < 0) return undefined
    const size = text.slice(at, lineEnd)
    if (!/^[\da-f]+$/i.test(size)) throw new Error(`Cannot read answers: piece of size ${size}`)
    const bytes = Number.parseInt(size, 16)
    const start = lineEnd + 2
    if (bytes === 0) {
      const trailersEnd =
        text.indexOf('\r\n', start) === start ? start : text.indexOf('\r\n\r\n', start) + 2
      return trailersEnd < start ? undefined : { body, rest: text.slice(trailersEnd + 2) }
    }
    if (text.length < start + bytes + 2) return undefined
    body += text.slice(start, start + bytes)
    at = start + bytes + 2
  }
}

function head(text: string): string {
  return JSON.stringify(text.slice(0, 80))
}
