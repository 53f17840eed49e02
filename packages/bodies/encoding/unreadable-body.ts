import { StatusError } from '@skerry/api'

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
