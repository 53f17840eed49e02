import {
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  fieldTooMany,
  equalJson,
  isJsonObject,
  memberOf,
  type JsonObject,
  type Schema,
  type StatusCause,
} from '@skerry/api'
import { isFull } from './full-causes.ts'
import { schemaFromProps } from '../schema/crd-schema.ts'
import { checkEmbedded } from './embedded-check.ts'
import { checkLists, listKeysOf } from './list-check.ts'
import {
  inBody,
  isNumber,
  validateNumber,
  validateString,
  validateType,
  wholeInvalid,
} from './scalar-checks.ts'
import { causeLimits } from '../limits-table.ts'

/**
 * Checks a value against a CRD's schema, in upstream's words. `path` is the value's path; an empty
 * one means the object itself. CEL rules (`x-kubernetes-validations`) are checked afterwards: see
 * evaluateRules.
 */
export function validateStructural(schema: Schema, value: unknown, path = ''): StatusCause[] {
  const causes: StatusCause[] = []
  validate(schema, { value, path }, causes)
  checkEmbedded(schema, { value, path }, causes)
  checkLists(schema, { value, path }, causes)
  return causes.slice(0, causeLimits.causesMax)
}

/**
 * Does the same as validateStructural, but ignores errors from before the update: an unchanged
 * value is not checked, as far as old and new values correspond.
 */
export function validateStructuralUpdate(
  schema: Schema,
  value: unknown,
  old: unknown,
): StatusCause[] {
  const causes: StatusCause[] = []
  validate(schema, { value, path: '', old }, causes)
  checkEmbedded(schema, { value, path: '' }, causes)
  return withListsAfterUpdate(causes, schema, { value, old })
}

/** Checks an update of the status, against the schema of the status only, from its own root. */
export function validateStructuralStatusUpdate(
  schema: Schema,
  value: Readonly<JsonObject>,
  old: Readonly<JsonObject>,
): StatusCause[] {
  const causes: StatusCause[] = []
  const status = schema.properties?.['status']
  if (status && value['status'] !== undefined) {
    validate(status, { value: value['status'], path: '', old: old['status'] }, causes)
  }
  const placed = causes.map((cause) => ({ ...cause, field: inStatus(cause.field ?? '') }))
  return withListsAfterUpdate(placed, schema, { value, old })
}

function inStatus(field: string): string {
  return field === '' || field === '<nil>' ? 'status' : `status.${field}`
}

function withListsAfterUpdate(
  causes: StatusCause[],
  schema: Schema,
  { value, old }: { value: unknown; old: unknown },
): StatusCause[] {
  const before: StatusCause[] = []
  checkLists(schema, { value: old, path: '' }, before)
  if (before.length === 0) checkLists(schema, { value, path: '' }, causes)
  return causes.slice(0, causeLimits.causesMax)
}

interface At {
  readonly value: unknown
  readonly path: string
  /** The corresponding value before an update; undefined if there is none. */
  readonly old?: unknown
}

function validate(schema: Schema, at: At, causes: StatusCause[]): void {
  if (at.value === null && schema.nullable) return
  if (at.old !== undefined && equalJson(at.value, at.old)) return
  if (isFull(causes)) return
  // metadata is typed, and checked as such; a definition may restrict the names further.
  if (schema.ref !== undefined) {
    const { names } = schema
    if (names && isJsonObject(at.value)) {
      validateMembers({ properties: names }, { ...at, value: at.value }, causes)
    }
    return
  }
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

function validateItems(
  schema: Schema,
  { value, path, old }: At & { value: readonly unknown[] },
  causes: StatusCause[],
): void {
  const { items, listMapKeys = [] } = schema
  if (items) {
    // Only items with keys can be matched with old ones after an update.
    const olds = schema.listType === 'map' && Array.isArray(old) ? old : []
    const textOf = (item: unknown): string => JSON.stringify(listKeysOf(item, listMapKeys, items))
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
  for (const key of schema.required ?? []) {
    if (memberOf(value, key) === undefined) causes.push(fieldRequired(child(path, key)))
  }
  const { properties, additionalProperties } = schema
  for (const [key, member] of Object.entries(value)) {
    const declared = properties && Object.hasOwn(properties, key) ? properties[key] : undefined
    const below = declared ?? additionalProperties
    const before = isJsonObject(old) ? memberOf(old, key) : undefined
    if (below) validate(below, { value: member, path: child(path, key), old: before }, causes)
  }
}

function child(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`
}

/** Checks anyOf, oneOf, allOf and not, whose parts only restrict values. */
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
    const none = results.some(isValid) ? '' : '. None validated'
    if (!results.every(isValid)) {
      causes.push(wholeInvalid(`"${at.path}" must validate all the schemas (allOf)${none}`))
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
