import { quoteGo, StatusError } from '@skerry/api'

const shownMax = 30
const utf8 = new TextDecoder()

/** What upstream says of a body that it cannot read, with the start of what was sent. */
export function unreadableBody(
  detail: string,
  { bytes, typeName, cause }: { bytes: Uint8Array; typeName?: string | undefined; cause?: unknown },
): StatusError {
  const wanted = typeName === undefined ? '' : ` (must be of type ${typeName})`
  return new StatusError(
    'BadRequest',
    `the object provided is unrecognized${wanted}: ${detail} (${shown(bytes)})`,
    cause === undefined ? {} : { cause },
  )
}

/** What upstream's decoder says of a JSON value that is of another type; `into` is Go's, e.g. `value of type string`. */
export function wrongJsonType(value: unknown, into: string): string {
  const type = Array.isArray(value) ? 'array' : typeof value
  return `json: cannot unmarshal ${type === 'boolean' ? 'bool' : type} into Go ${into}`
}

/** Text of what looks like a JSON object; hexadecimal of anything else. */
function shown(bytes: Uint8Array): string {
  if (bytes.length === 0) return '<empty>'
  const start = bytes.subarray(0, shownMax)
  const isObject = bytes[0] === 0x7b
  const text = isObject
    ? utf8.decode(start)
    : [...start].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return bytes.length > shownMax ? `${text} ...` : text
}

/** The engine's complaint about malformed JSON in the words that clients of upstream know. */
export function jsonErrorText(message: string, text: string): string {
  if (message.includes('Unexpected end') || message.includes('Unterminated string')) {
    return 'unexpected end of JSON input'
  }
  const at = Number(/position (\d+)/.exec(message)?.[1] ?? Number.NaN)
  if (at >= text.length) return 'unexpected end of JSON input'
  const found = /Unexpected token '(.)'/u.exec(message)?.[1]
  const char = quoted(found ?? (Number.isNaN(at) ? '' : (text[at] ?? '')))
  if (message.includes('after JSON')) return `invalid character ${char} after top-level value`
  if (message.includes('control character')) return `invalid character ${char} in string literal`
  if (message.includes('escape')) return `invalid character ${char} in string escape code`
  for (const [complaint, words] of complaints) {
    if (message.includes(complaint)) return `invalid character ${char} ${words}`
  }
  return `invalid character ${char} looking for beginning of value`
}

/** A part of what the engine says, and what stands after the character. */
const complaints: readonly (readonly [string, string])[] = [
  ['after property value', 'after object key:value pair'],
  ['after array element', 'after array element'],
  ['after property name', 'after object key'],
  ['property name', 'looking for beginning of object key string'],
  ['fractional number', 'after decimal point in numeric literal'],
  ['minus sign', 'in numeric literal'],
  ['Exponent part', 'in exponent of numeric literal'],
]

function quoted(char: string): string {
  if (char === "'") return String.raw`'\''`
  return char === '"' ? `'"'` : `'${quoteGo(char).slice(1, -1)}'`
}
