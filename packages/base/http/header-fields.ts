/** Names and values as received, in order. A name may occur more than once. */
export type HeaderLines = Iterable<readonly [name: string, value: string]>

/** Headers by lower-case names. A name that occurs more than once has an array, in order. */
export type HeaderRecord = Readonly<Record<string, string | readonly string[]>>

const nameShape = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
/** Visible ASCII, space, tab and bytes above ASCII: a CR, LF or NUL would split a message (RFC 9110, 5.5). */
const valueShape = /^[\t\x20-\x7e\x80-\xff]*$/

/** A token (RFC 9110, section 5.1), which excludes the pseudo-headers of HTTP/2. */
export function isFieldName(name: string): boolean {
  return nameShape.test(name)
}

export function isFieldValue(value: string): boolean {
  return valueShape.test(value)
}

/** Headers that concern only one connection (RFC 9110, section 7.6.1; RFC 9113, section 8.2.2). */
export const connectionFields: ReadonlySet<string> = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
])

const noNames: ReadonlySet<string> = new Set()

/** Returns the lower-case names of the fields that Connection limits to this connection. */
export function namedByConnection(values: Iterable<string> | undefined): ReadonlySet<string> {
  if (values === undefined) return noNames
  const names = [...values].flatMap((value) => value.split(','))
  return new Set(names.map((name) => name.trim().toLowerCase()))
}

/** Node's flat list: name, value, name, value, … */
export function* fieldsOfRaw(raw: readonly string[]): Generator<[name: string, value: string]> {
  for (let at = 0; at + 1 < raw.length; at += 2) yield [raw[at] ?? '', raw[at + 1] ?? '']
}

export function* fieldsOfRecord(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): Generator<[name: string, value: string]> {
  for (const name in headers) {
    const value = headers[name]
    if (value === undefined) continue
    if (typeof value === 'string') yield [name, value]
    else for (const one of value) yield [name, one]
  }
}
