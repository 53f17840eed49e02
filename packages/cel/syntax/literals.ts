/** Returns the value of a quoted text. Throws SyntaxError for unknown escapes. */
export function textOfLiteral(token: string): string {
  const { body, isRaw } = unquote(token)
  return isRaw ? body : unescape(body, (code) => String.fromCodePoint(code)).join('')
}

/** Does the same as textOfLiteral, but `\x41` and `\101` are bytes. */
export function bytesOfLiteral(token: string): Uint8Array {
  const { body, isRaw } = unquote(token)
  const encoder = new TextEncoder()
  if (isRaw) return encoder.encode(body)
  const parts = unescape(body, (code, isByte) => (isByte ? code : String.fromCodePoint(code)))
  const bytes = parts.flatMap((part) =>
    typeof part === 'number' ? [part] : [...encoder.encode(part)],
  )
  return Uint8Array.from(bytes)
}

function unquote(token: string): { body: string; isRaw: boolean } {
  const prefix = /^[rRbB]*/.exec(token)?.[0] ?? ''
  const quoted = token.slice(prefix.length)
  const isLong = quoted.length >= 6 && (quoted.startsWith('"""') || quoted.startsWith(`'''`))
  const width = isLong ? 3 : 1
  const body = quoted.slice(width, -width).replaceAll(/\r\n?/g, '\n')
  return { body, isRaw: /r/i.test(prefix) }
}

const escapes =
  /\\(?:([abfnrtv\\?"'`])|[xX]([0-9a-fA-F]{2})|([0-3][0-7]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([^]?))/g

const named: Readonly<Record<string, string>> = Object.freeze({
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
})

function unescape<T>(body: string, code: (value: number, isByte: boolean) => T): (T | string)[] {
  const parts: (T | string)[] = []
  let end = 0
  for (const found of body.matchAll(escapes)) {
    const [whole, simple, hex, octal, short, long] = found
    parts.push(body.slice(end, found.index))
    end = found.index + whole.length
    if (simple !== undefined) parts.push(named[simple] ?? simple)
    else if (hex !== undefined) parts.push(code(Number.parseInt(hex, 16), true))
    else if (octal !== undefined) parts.push(code(Number.parseInt(octal, 8), true))
    else parts.push(code(codePoint(short ?? long, whole), false))
  }
  parts.push(body.slice(end))
  return parts
}

function codePoint(hex: string | undefined, whole: string): number {
  const value = hex === undefined ? -1 : Number.parseInt(hex, 16)
  const isSurrogate = value >= 0xd800 && value <= 0xdfff
  if (value < 0 || value > 0x10ffff || isSurrogate) {
    throw new SyntaxError(`invalid escape sequence: ${whole}`)
  }
  return value
}
