import {
  fieldInvalid,
  fieldTooLong,
  fieldTypeInvalid,
  type Schema,
  type StatusCause,
} from '@skerry/api'
import { isKnownFormat, matchesFormat } from '../schema/formats.ts'
import { matchesPattern } from './patterns.ts'

/** Returns true if the value has the schema's type. Formats that upstream does not know are ignored. */
export function validateType(
  schema: Schema,
  { value, path }: { value: unknown; path: string },
  causes: StatusCause[],
): void {
  const wanted = schema.intOrString ? 'integer,string' : schema.type
  if (wanted === undefined) return
  const found = typeOf(value)
  const isWanted =
    found === wanted ||
    (wanted === 'number' && found === 'integer') ||
    (schema.intOrString === true && (found === 'integer' || found === 'string'))
  if (isWanted) return
  const { format } = schema
  if (wanted === 'string' && format !== undefined && isKnownFormat(format) && value !== null) {
    // Upstream accepts a list where a text with a format is expected, and names other values by
    // their format.
    if (found === 'array') return
    const shown = found === 'integer' ? 'int64' : found === 'number' ? 'double' : ''
    causes.push(
      fieldTypeInvalid(path, shown, `${inBody(path)} must be of type ${format}: "${shown}"`),
    )
  } else {
    const detail = `${inBody(path)} must be of type ${wanted}: "${found}"`
    causes.push(fieldTypeInvalid(path, found, detail))
  }
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value
}

/** Returns `spec.a in body`, upstream's phrase for a place. */
export function inBody(path: string): string {
  return `${path} in body`
}

/** Upstream reports failures of a whole schema without a field. */
export function wholeInvalid(detail: string): StatusCause {
  return fieldInvalid('<nil>', '', detail)
}

/** Reports the first error of length and pattern; the format is checked separately. */
export function validateString(
  schema: Schema,
  { value, path }: { value: string; path: string },
  causes: StatusCause[],
): void {
  const { maxLength, minLength, pattern } = schema.validations ?? {}
  if (isNumber(maxLength) && lengthOf(value) > maxLength) {
    causes.push(fieldTooLong(path, maxLength))
  } else if (isNumber(minLength) && lengthOf(value) < minLength) {
    const detail = `${inBody(path)} should be at least ${minLength} chars long`
    causes.push(fieldInvalid(path, value, detail))
  } else if (typeof pattern === 'string' && pattern !== '' && !matchesPattern(pattern, value)) {
    causes.push(fieldInvalid(path, value, `${inBody(path)} should match '${pattern}'`))
  }
  const { format } = schema
  if (format !== undefined && !schema.intOrString && !matchesFormat(format, value)) {
    const detail = `${inBody(path)} must be of type ${format}: ${JSON.stringify(value)}`
    causes.push(fieldTypeInvalid(path, value, detail))
  }
}

/** Counts code points, as upstream does. */
function lengthOf(text: string): number {
  let length = 0
  for (const _ of text) length += 1
  return length
}

/** Whole numbers are compared with bounds that upstream has truncated to whole numbers. */
export function validateNumber(
  schema: Schema,
  { value, path }: { value: number; path: string },
  causes: StatusCause[],
): void {
  const { multipleOf, maximum, minimum, exclusiveMaximum, exclusiveMinimum } =
    schema.validations ?? {}
  const refuse = (detail: string): void => {
    causes.push(fieldInvalid(path, value, `${inBody(path)} should be ${detail}`))
  }
  /** Returns the bound for the comparison. A bound that does not fit the type is reported separately. */
  const bound = (given: number, what: string): number => {
    const isOfType = checkRange(schema, { value: given, path, what }, causes)
    return isOfType && Number.isInteger(value) ? Math.trunc(given) : given
  }
  checkRange(schema, { value, path, what: 'Checked' }, causes)
  if (isNumber(multipleOf)) {
    const factor = bound(multipleOf, 'MultipleOf')
    if (factor <= 0) {
      const detail = `factor MultipleOf declared for ${path} must be positive: ${factor}`
      causes.push(fieldInvalid(path, factor, detail))
    } else if (!isMultiple(value, factor)) refuse(`a multiple of ${factor}`)
  }
  if (isNumber(minimum)) {
    const least = bound(minimum, 'Minimum boundary')
    if (exclusiveMinimum === true && value <= least) refuse(`greater than ${least}`)
    else if (value < least) refuse(`greater than or equal to ${least}`)
  }
  if (isNumber(maximum)) {
    const most = bound(maximum, 'Maximum boundary')
    if (exclusiveMaximum === true && value >= most) refuse(`less than ${most}`)
    else if (value > most) refuse(`less than or equal to ${most}`)
  }
}

function checkRange(
  { type, format, intOrString }: Schema,
  { value, path, what }: { value: number; path: string; what: string },
  causes: StatusCause[],
): boolean {
  if (type !== 'integer' || intOrString) return true
  const isInt32 = format === 'int32'
  const isInside = isInt32 ? value >= -(2 ** 31) && value < 2 ** 31 : Math.abs(value) <= 2 ** 63
  if (Number.isInteger(value) && isInside) return true
  const isNamed = isInt32 || format === 'int64'
  const suffix = isNamed ? `with format ${format}` : '(default format)'
  causes.push(wholeInvalid(`${what} value must be of type integer ${suffix} in ${path}`))
  return false
}

function isMultiple(value: number, factor: number): boolean {
  const quotient = value / factor
  return Math.abs(quotient - Math.round(quotient)) < 1e-9
}

export function isNumber(value: unknown): value is number {
  return typeof value === 'number'
}
