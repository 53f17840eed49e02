import { StatusError } from '@skerry/api'
import { bodiesBounds } from '../limits-table.ts'

const { shownMax } = bodiesBounds.unreadableBody
const utf8 = new TextDecoder()

/** Returns upstream's error for an unreadable body, with the start of the body. */
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

/**
 * Returns the error of upstream's decoder for a JSON value of another type. `into` is Go's, e.g.
 * `value of type string`.
 */
export function wrongJsonType(value: unknown, into: string): string {
  const type = Array.isArray(value) ? 'array' : typeof value
  return `json: cannot unmarshal ${type === 'boolean' ? 'bool' : type} into Go ${into}`
}

/** Returns the text of something that looks like a JSON object, and hexadecimal for anything else. */
function shown(bytes: Uint8Array): string {
  if (bytes.length === 0) return '<empty>'
  const start = bytes.subarray(0, shownMax)
  const isObject = bytes[0] === 0x7b
  const text = isObject
    ? utf8.decode(start)
    : [...start].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return bytes.length > shownMax ? `${text} ...` : text
}
