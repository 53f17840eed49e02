import type { StatusCause } from './status-error.ts'

/**
 * Upstream's field.Error as status causes: the reason, the message and the field that clients print
 * and tests match on. Paths look like `spec.containers[0].name`.
 */
type FieldErrorReason = keyof typeof wordsOfReason

const wordsOfReason = Object.freeze({
  FieldValueNotFound: 'Not found',
  FieldValueRequired: 'Required value',
  FieldValueDuplicate: 'Duplicate value',
  FieldValueInvalid: 'Invalid value',
  FieldValueTypeInvalid: 'Invalid value',
  FieldValueNotSupported: 'Unsupported value',
  FieldValueForbidden: 'Forbidden',
  FieldValueTooLong: 'Too long',
  FieldValueTooShort: 'Too short',
  FieldValueTooMany: 'Too many',
  FieldValueTooFew: 'Too few',
})

export function fieldInvalid(field: string, value: unknown, detail: string): StatusCause {
  return withValue('FieldValueInvalid', field, value, detail)
}

export function fieldTypeInvalid(field: string, value: unknown, detail: string): StatusCause {
  return withValue('FieldValueTypeInvalid', field, value, detail)
}

export function fieldRequired(field: string, detail = ''): StatusCause {
  return cause('FieldValueRequired', field, detail)
}

export function fieldForbidden(field: string, detail: string): StatusCause {
  return cause('FieldValueForbidden', field, detail)
}

export function fieldDuplicate(field: string, value: unknown): StatusCause {
  return withValue('FieldValueDuplicate', field, value, '')
}

export function fieldNotFound(field: string, value: unknown): StatusCause {
  return withValue('FieldValueNotFound', field, value, '')
}

export function fieldNotSupported(
  field: string,
  value: unknown,
  supported: readonly unknown[],
): StatusCause {
  const list = supported.map((item) => quoteGo(String(item))).join(', ')
  return withValue('FieldValueNotSupported', field, value, list ? `supported values: ${list}` : '')
}

export function fieldTooLong(field: string, bytesMax: number): StatusCause {
  const unit = bytesMax === 1 ? 'byte' : 'bytes'
  return cause('FieldValueTooLong', field, `may not be more than ${bytesMax} ${unit}`)
}

export function fieldTooMany(field: string, actual: number, itemsMax: number): StatusCause {
  return withValue('FieldValueTooMany', field, actual, `must have at most ${items(itemsMax)}`)
}

/** Formats a value for such a message: strings quoted, everything else as JSON. */
export function printFieldValue(value: unknown): string {
  if (typeof value === 'string') return quoteGo(value)
  return (JSON.stringify(value) ?? 'null').replaceAll(/[<>&\u2028\u2029]/g, escaped)
}

/** Go escapes JSON so that it can be part of HTML. */
function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** Implements Go's strconv.Quote, whose escapes are `\x00` and `\u00a0`, not JSON's. */
export function quoteGo(text: string): string {
  if (/^[\x20-\x21\x23-\x5b\x5d-\x7e]*$/.test(text)) return `"${text}"`
  let out = '"'
  for (const char of text) out += quotedChar(char)
  return `${out}"`
}

const namedEscapes: Readonly<Record<string, string>> = Object.freeze({
  '\\': '\\\\',
  '"': '\\"',
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
})

function quotedChar(char: string): string {
  const named = namedEscapes[char]
  if (named !== undefined) return named
  if (/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(char)) return char
  const code = char.codePointAt(0) ?? 0
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`
  if (code < 0x10000) return `\\u${code.toString(16).padStart(4, '0')}`
  return `\\U${code.toString(16).padStart(8, '0')}`
}

function items(count: number): string {
  return `${count} ${count === 1 ? 'item' : 'items'}`
}

function withValue(
  reason: FieldErrorReason,
  field: string,
  value: unknown,
  detail: string,
): StatusCause {
  const suffix = detail ? `: ${detail}` : ''
  return { reason, message: `${wordsOfReason[reason]}: ${printFieldValue(value)}${suffix}`, field }
}

function cause(reason: FieldErrorReason, field: string, detail: string): StatusCause {
  return { reason, message: `${wordsOfReason[reason]}${detail ? `: ${detail}` : ''}`, field }
}
