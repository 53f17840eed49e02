import { cloneJson, isJsonObject, memberOf, setMember, type JsonObject } from '../json.ts'
import type { Schema } from '../schema.ts'

/**
 * Removes, in place, fields that a CRD's schema does not specify. Returns them in upstream's words,
 * sorted: `unknown field "spec.foo"`. metadata is left alone: see checkCustomMetadata.
 */
export function pruneStructural(value: unknown, schema: Schema): string[] {
  const paths: string[] = []
  prune(value, schema, { path: '', paths })
  return paths.toSorted().map((path) => `unknown field "${path}"`)
}

interface Pruned {
  readonly path: string
  readonly paths: string[]
}

const metaFields: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata'])

function prune(value: unknown, schema: Schema, at: Pruned): void {
  if (Array.isArray(value)) {
    const items = schema.preserveUnknownFields
      ? (schema.items ?? { preserveUnknownFields: true })
      : schema.items
    value.forEach((item, index) => {
      prune(item, items ?? {}, { ...at, path: `${at.path}[${index}]` })
    })
  } else if (isJsonObject(value)) {
    for (const key of Object.keys(value)) pruneMember(value, key, { schema, at })
  }
}

function pruneMember(
  object: JsonObject,
  key: string,
  within: { schema: Schema; at: Pruned },
): void {
  const { schema, at } = within
  if (schema.embeddedResource && metaFields.has(key)) return
  const path = at.path === '' ? key : `${at.path}.${key}`
  const declared = declaredSchema(schema, key)
  if (declared) {
    prune(object[key], declared, { ...at, path })
  } else if (!schema.preserveUnknownFields) {
    at.paths.push(path)
    delete object[key]
  }
}

function declaredSchema(schema: Schema, key: string): Schema | undefined {
  const { properties, additionalProperties } = schema
  if (properties && Object.hasOwn(properties, key)) return properties[key]
  return additionalProperties
}

/**
 * Fills in, in place, the defaults of a CRD's schema. A null that may not be null counts as absent:
 * it gets the default or goes. Idempotent.
 */
export function defaultStructural(value: unknown, schema: Schema): void {
  if (Array.isArray(value)) defaultItems(value, schema.items)
  else if (isJsonObject(value)) defaultMembers(value, schema)
}

function defaultItems(list: unknown[], items: Schema | undefined): void {
  if (!items) return
  for (let at = 0; at < list.length; at += 1) {
    if (isWrongNull(list[at], items) && items.default !== undefined)
      list[at] = cloneJson(items.default)
    defaultStructural(list[at], items)
  }
}

function defaultMembers(object: JsonObject, schema: Schema): void {
  for (const [key, field] of Object.entries(schema.properties ?? {})) {
    const value = memberOf(object, key)
    if (field.default === undefined) continue
    if (value === undefined || isWrongNull(value, field))
      setMember(object, key, cloneJson(field.default))
  }
  for (const key of Object.keys(object)) {
    const below = declaredSchema(schema, key)
    if (!below || below.ref !== undefined) continue
    if (isWrongNull(object[key], below)) {
      if (below.default === undefined) {
        delete object[key]
        continue
      }
      setMember(object, key, cloneJson(below.default))
    }
    defaultStructural(object[key], below)
  }
}

function isWrongNull(value: unknown, schema: Schema): boolean {
  return value === null && schema.nullable !== true
}
