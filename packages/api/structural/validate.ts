import {
  fieldDuplicate,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  fieldTooLong,
  fieldTooMany,
  fieldTypeInvalid,
} from '../field-error.ts'
import { equalJson, isJsonObject, memberOf, type JsonObject } from '../json.ts'
import { validateAnnotations, validateLabels } from '../object-meta.ts'
import type { Schema } from '../schema.ts'
import type { StatusCause } from '../status-error.ts'
import { causeLimits, isFull } from './cause-limits.ts'
import { schemaFromProps } from './crd-schema.ts'
import { matchesFormat } from './formats.ts'
import { matchesPattern } from './patterns.ts'

/**
 * Checks a value against a schema made from a CRD, in upstream's words. `path` is where the value
 * stands, empty for the object itself. Rules in CEL (`x-kubernetes-validations`) come after it: see
 * evaluateRules.
 */
export function validateStructural(schema: Schema, value: unknown, path = ''): StatusCause[] {
  const causes: StatusCause[] = []
  validate(schema, { value, path }, causes)
  validateLists(schema, { value, path }, causes)
  return causes.slice(0, causeLimits.causesMax)
}

/**
 * As validateStructural, but what was as wrong before the update is forgiven: a value that is as it
 * was is not looked at, as far as old and new values belong together.
 */
export function validateStructuralUpdate(
  schema: Schema,
  value: unknown,
  old: unknown,
): StatusCause[] {
  const causes: StatusCause[] = []
  validate(schema, { value, path: '', old }, causes)
  const before: StatusCause[] = []
  validateLists(schema, { value: old, path: '' }, before)
  if (before.length === 0) validateLists(schema, { value, path: '' }, causes)
  return causes.slice(0, causeLimits.causesMax)
}

interface At {
  readonly value: unknown
  readonly path: string
  /** The value before an update that belongs to this one; undefined when there is none. */
  readonly old?: unknown
}

function validate(schema: Schema, at: At, causes: StatusCause[]): void {
  if (at.value === null && schema.nullable) return
  if (at.old !== undefined && equalJson(at.value, at.old)) return
  // metadata is typed, and checked as such.
  if (schema.ref !== undefined || isFull(causes)) return
  validateType(schema, at, causes)
  const { validations } = schema
  if (validations) validateJunctions(validations, at, causes)
  const { value } = at
  if (typeof value === 'string') validateString(schema, { ...at, value }, causes)
  else if (typeof value === 'number') validateNumber(schema, { ...at, value }, causes)
  else if (Array.isArray(value)) validateItems(schema, { ...at, value }, causes)
  if (schema.enum && !schema.enum.some((allowed) => equalJson(allowed, value))) {
    const allowed = schema.enum.map((item) =>
      typeof item === 'string' ? item : JSON.stringify(item),
    )
    causes.push(fieldNotSupported(at.path, value, allowed))
  }
  if (isJsonObject(value)) validateMembers(schema, { ...at, value }, causes)
}

function validateType(schema: Schema, { value, path }: At, causes: StatusCause[]): void {
  const wanted = schema.intOrString ? 'integer,string' : schema.type
  if (wanted === undefined) return
  const found = typeOf(value)
  const isWanted =
    found === wanted ||
    (wanted === 'number' && found === 'integer') ||
    (schema.intOrString === true && (found === 'integer' || found === 'string'))
  if (isWanted) return
  const detail = `${inBody(path)} must be of type ${wanted}: "${found}"`
  causes.push(fieldTypeInvalid(path, found, detail))
  if (found === 'number' && wanted.startsWith('integer') && !schema.intOrString) {
    causes.push(wholeInvalid(`Checked value must be of type integer (default format) in ${path}`))
  }
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value
}

function inBody(path: string): string {
  return `${path} in body`
}

/** Upstream reports failures of a whole schema without a field. */
function wholeInvalid(detail: string): StatusCause {
  return fieldInvalid('<nil>', '', detail)
}

function validateString(
  schema: Schema,
  { value, path }: { value: string; path: string },
  causes: StatusCause[],
): void {
  const { maxLength, minLength, pattern } = schema.validations ?? {}
  if (isNumber(maxLength) && lengthOf(value) > maxLength) causes.push(fieldTooLong(path, maxLength))
  if (isNumber(minLength) && lengthOf(value) < minLength) {
    const detail = `${inBody(path)} should be at least ${minLength} chars long`
    causes.push(fieldInvalid(path, value, detail))
  }
  if (typeof pattern === 'string' && pattern !== '' && !matchesPattern(pattern, value)) {
    causes.push(fieldInvalid(path, value, `${inBody(path)} should match '${pattern}'`))
  }
  const { format } = schema
  if (format !== undefined && !schema.intOrString && !matchesFormat(format, value)) {
    const detail = `${inBody(path)} must be of type ${format}: ${JSON.stringify(value)}`
    causes.push(fieldTypeInvalid(path, value, detail))
  }
}

/** In code points, as upstream counts. */
function lengthOf(text: string): number {
  let length = 0
  for (const _ of text) length += 1
  return length
}

function validateNumber(
  schema: Schema,
  { value, path }: { value: number; path: string },
  causes: StatusCause[],
): void {
  const { multipleOf, maximum, minimum, exclusiveMaximum, exclusiveMinimum } =
    schema.validations ?? {}
  const refuse = (detail: string): void => {
    causes.push(fieldInvalid(path, value, `${inBody(path)} should be ${detail}`))
  }
  if (schema.format === 'int32' && Math.abs(value + 0.5) > 2 ** 31) {
    causes.push(wholeInvalid(`Checked value must be of type integer with format int32 in ${path}`))
  }
  if (isNumber(multipleOf) && !isMultiple(value, multipleOf)) refuse(`a multiple of ${multipleOf}`)
  if (isNumber(maximum)) {
    if (exclusiveMaximum === true && value >= maximum) refuse(`less than ${maximum}`)
    else if (value > maximum) refuse(`less than or equal to ${maximum}`)
  }
  if (isNumber(minimum)) {
    if (exclusiveMinimum === true && value <= minimum) refuse(`greater than ${minimum}`)
    else if (value < minimum) refuse(`greater than or equal to ${minimum}`)
  }
}

function isMultiple(value: number, factor: number): boolean {
  const quotient = value / factor
  return Math.abs(quotient - Math.round(quotient)) < 1e-9
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number'
}

function validateItems(
  schema: Schema,
  { value, path, old }: At & { value: readonly unknown[] },
  causes: StatusCause[],
): void {
  const { items, listMapKeys = [] } = schema
  if (items) {
    // Only items with keys can be told from each other after an update.
    const olds = schema.listType === 'map' && Array.isArray(old) ? old : []
    const textOf = (item: unknown): string => JSON.stringify(keysOf(item, listMapKeys, items))
    const oldByKeys = new Map(olds.map((item: unknown) => [textOf(item), item]))
    value.forEach((item, index) => {
      const before = oldByKeys.size > 0 ? oldByKeys.get(textOf(item)) : undefined
      validate(items, { value: item, path: `${path}[${index}]`, old: before }, causes)
    })
  }
  const { minItems, maxItems, uniqueItems } = schema.validations ?? {}
  if (isNumber(minItems) && value.length < minItems) {
    const detail = `${inBody(path)} should have at least ${minItems} items`
    causes.push(fieldInvalid(path, value.length, detail))
  }
  if (isNumber(maxItems) && value.length > maxItems) {
    causes.push(fieldTooMany(path, value.length, maxItems))
  }
  const isRepeated = (item: unknown, at: number): boolean =>
    value.slice(0, at).some((other) => equalJson(other, item))
  if (uniqueItems === true && value.some(isRepeated)) {
    causes.push(fieldInvalid(path, '', `${inBody(path)} shouldn't contain duplicates`))
  }
}

function validateMembers(
  schema: Schema,
  { value, path, old }: At & { value: JsonObject },
  causes: StatusCause[],
): void {
  const { minProperties, maxProperties } = schema.validations ?? {}
  const count = Object.keys(value).length
  if (isNumber(minProperties) && count < minProperties) {
    const detail = `${inBody(path)} should have at least ${minProperties} properties`
    causes.push(fieldInvalid(path, count, detail))
  }
  if (isNumber(maxProperties) && count > maxProperties) {
    causes.push(fieldTooMany(path, count, maxProperties))
  }
  for (const key of requiredOf(schema, path)) {
    if (memberOf(value, key) === undefined) causes.push(fieldRequired(child(path, key)))
  }
  if (schema.embeddedResource && path !== '') causes.push(...checkEmbedded(value, path))
  const { properties, additionalProperties } = schema
  for (const [key, member] of Object.entries(value)) {
    const declared = properties && Object.hasOwn(properties, key) ? properties[key] : undefined
    const below = declared ?? additionalProperties
    const before = isJsonObject(old) ? memberOf(old, key) : undefined
    if (below) validate(below, { value: member, path: child(path, key), old: before }, causes)
  }
}

/** Types have been looked at when the object was decoded. */
function checkEmbedded(resource: JsonObject, path: string): StatusCause[] {
  const metadata = memberOf(resource, 'metadata')
  if (!isJsonObject(metadata)) return []
  const where = child(path, 'metadata')
  return [
    ...validateLabels(textsOf(metadata['labels']), `${where}.labels`),
    ...validateAnnotations(textsOf(metadata['annotations']), `${where}.annotations`),
  ]
}

function textsOf(value: unknown): Record<string, string> {
  const entries = isJsonObject(value) ? Object.entries(value) : []
  return Object.fromEntries(entries.map(([key, text]) => [key, String(text)]))
}

/** An embedded resource says what it is. The object itself was asked before. */
function requiredOf(schema: Schema, path: string): readonly string[] {
  const required = schema.required ?? []
  return schema.embeddedResource && path !== '' ? [...required, 'apiVersion', 'kind'] : required
}

function child(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`
}

/** anyOf, oneOf, allOf and not, whose parts only restrict values. */
function validateJunctions(
  validations: Readonly<Record<string, unknown>>,
  at: At,
  causes: StatusCause[],
): void {
  const { anyOf, oneOf, allOf, not } = validations
  if (Array.isArray(anyOf)) {
    const results = failuresOf(anyOf, at)
    if (results.length > 0 && !results.some(isValid)) {
      causes.push(wholeInvalid(`"${at.path}" must validate at least one schema (anyOf)`))
      causes.push(...(results[0] ?? []))
    }
  }
  if (Array.isArray(oneOf)) {
    const results = failuresOf(oneOf, at)
    const valid = results.filter(isValid).length
    const what = `"${at.path}" must validate one and only one schema (oneOf).`
    if (valid > 1) causes.push(wholeInvalid(`${what} Found ${valid} valid alternatives`))
    if (valid === 0) {
      causes.push(wholeInvalid(`${what} Found none valid`), ...(results[0] ?? []))
    }
  }
  if (Array.isArray(allOf)) {
    const results = failuresOf(allOf, at)
    causes.push(...results.flat())
    if (!results.every(isValid)) {
      causes.push(wholeInvalid(`"${at.path}" must validate all the schemas (allOf)`))
    }
  }
  if (isJsonObject(not) && isValid(failuresOf([not], at)[0] ?? [])) {
    causes.push(wholeInvalid(`"${at.path}" must not validate the schema (not)`))
  }
}

function failuresOf(parts: readonly unknown[], { value, path }: At): StatusCause[][] {
  return parts.filter(isJsonObject).map((part) => {
    const causes: StatusCause[] = []
    validate(schemaFromProps(part), { value, path }, causes)
    return causes
  })
}

function isValid(causes: readonly StatusCause[]): boolean {
  return causes.length === 0
}

/** Sets and list maps must not repeat an item. */
function validateLists(schema: Schema, { value, path }: At, causes: StatusCause[]): void {
  if (Array.isArray(value)) {
    checkUnique(schema, { value, path }, causes)
    const { items } = schema
    if (items) {
      value.forEach((item, at) =>
        validateLists(items, { value: item, path: `${path}[${at}]` }, causes),
      )
    }
  } else if (isJsonObject(value)) {
    for (const [key, member] of Object.entries(value)) {
      if (typeof member !== 'object' || member === null) continue
      const declared = schema.properties && Object.hasOwn(schema.properties, key)
      const below = declared ? schema.properties?.[key] : schema.additionalProperties
      if (below) validateLists(below, { value: member, path: child(path, key) }, causes)
    }
  }
}

function checkUnique(
  schema: Schema,
  { value, path }: { value: readonly unknown[]; path: string },
  causes: StatusCause[],
): void {
  const { listType, listMapKeys = [], items } = schema
  if (listType !== 'set' && listType !== 'map') return
  const seen = new Set<string>()
  value.forEach((item, at) => {
    if (isFull(causes)) return
    const identity = listType === 'map' ? keysOf(item, listMapKeys, items) : item
    const text = JSON.stringify(identity)
    if (seen.has(text)) causes.push(fieldDuplicate(`${path}[${at}]`, identity))
    seen.add(text)
  })
}

function keysOf(item: unknown, keys: readonly string[], items: Schema | undefined): JsonObject {
  const found: JsonObject = {}
  if (!isJsonObject(item)) return found
  for (const key of keys) {
    const value = memberOf(item, key) ?? items?.properties?.[key]?.default
    if (value !== undefined) found[key] = value
  }
  return found
}
