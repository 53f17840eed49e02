/** The next part of a text and its length in characters, or undefined if the part is missing. */
interface Part {
  /** The field's name in Go's time layout. */
  readonly name: string
  readonly length: (rest: string) => number | undefined
  /** The word for a number that is too large or too small, with its bounds. */
  readonly range?: readonly [what: string, least: number, most: number]
}

const dateParts: readonly Part[] = [
  { name: '2006', length: (rest) => (/^\d{4}/.test(rest) ? 4 : undefined) },
  literal('-'),
  { name: '01', length: digits(2), range: ['month', 1, 12] },
  literal('-'),
  { name: '02', length: digits(2) },
  literal('T'),
  { name: '15', length: (rest) => /^\d\d?/.exec(rest)?.[0].length, range: ['hour', 0, 23] },
  literal(':'),
  { name: '04', length: digits(2), range: ['minute', 0, 59] },
  literal(':'),
  { name: '05', length: digits(2), range: ['second', 0, 59] },
]
const zone: Part = { name: 'Z07:00', length: (rest) => /^(Z|[-+]\d\d:\d\d)/.exec(rest)?.[0].length }
/** Layouts without a fraction accept one. */
const anyFraction: Part = { name: '', length: (rest) => /^([.,]\d+)?/.exec(rest)?.[0].length }
const microFraction: Part = {
  name: '.000000',
  length: (rest) => (/^[.,]\d{6}/.test(rest) ? 7 : undefined),
}

/** Explains why a text is not an RFC 3339 time, in Go's words. */
export function timeErrorText(text: string, isMicro = false): string {
  const [fraction, layout] = isMicro
    ? [microFraction, '2006-01-02T15:04:05.000000Z07:00']
    : [anyFraction, '2006-01-02T15:04:05Z07:00']
  let rest = text
  for (const { name, length, range } of [...dateParts, fraction, zone]) {
    const count = length(rest)
    if (count === undefined) {
      return `parsing time ${quoteBytes(text)} as "${layout}": cannot parse ${quoteBytes(rest)} as "${name}"`
    }
    const value = Number(rest.slice(0, count))
    if (range && (value < range[1] || value > range[2])) return outOfRange(text, range[0])
    rest = rest.slice(count)
  }
  if (rest === '') return outOfRange(text, 'day')
  return `parsing time ${quoteBytes(text)}: extra text: ${quoteBytes(rest)}`
}

const utf8 = new TextEncoder()

/** Quotes an unreadable time as Go does: bytes other than printable ASCII are in hexadecimal. */
function quoteBytes(text: string): string {
  const shown = Array.from(utf8.encode(text), (byte) => {
    const char = String.fromCharCode(byte)
    if (char === '"' || char === '\\') return `\\${char}`
    return byte < 0x20 || byte >= 0x80 ? `\\x${byte.toString(16).padStart(2, '0')}` : char
  })
  return `"${shown.join('')}"`
}

function outOfRange(text: string, what: string): string {
  return `parsing time ${quoteBytes(text)}: ${what} out of range`
}

function literal(text: string): Part {
  return { name: text, length: (rest) => (rest.startsWith(text) ? text.length : undefined) }
}

function digits(count: number): Part['length'] {
  return (rest) => ((/^\d*/.exec(rest)?.[0].length ?? 0) >= count ? count : undefined)
}
