import {
  cloneJson,
  isJsonObject,
  memberOf,
  setMember,
  type JsonObject,
  type Schema,
} from '@skerry/api'
import { kindsBounds } from '../limits-table.ts'

const pruneLimits = kindsBounds.prune

/**
 * Removes fields that a CRD's schema does not specify, in place. Returns them in upstream's words,
 * sorted: `unknown field "spec.foo"`. Skips metadata; see checkCustomMetadata.
 */
export function pruneStructural(value: unknown, schema: Schema): string[] {
  const pruner = new Pruner()
  pruner.prune(value, schema)
  return pruner.paths.toSorted().map((path) => `unknown field "${path}"`)
}

interface Visit {
  readonly value: unknown
  readonly schema: Schema
  readonly path: string
}

const metaFields: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata'])
const anything: Schema = Object.freeze({ preserveUnknownFields: true })
const nothing: Schema = Object.freeze({})

class Pruner {
  readonly paths: string[] = []
  /** An explicit stack, because values nest deeper than the call stack allows. */
  readonly #pending: Visit[] = []
  #characters = 0

  prune(value: unknown, schema: Schema): void {
    this.#pending.push({ value, schema, path: '' })
    for (let visit = this.#pending.pop(); visit; visit = this.#pending.pop()) this.#visit(visit)
  }

  #visit({ value, schema, path }: Visit): void {
    if (Array.isArray(value)) {
      const items = schema.items ?? (schema.preserveUnknownFields ? anything : nothing)
      if (items === anything) return
      value.forEach((item, at) => this.#descend(item, items, `${path}[${at}]`))
    } else if (isJsonObject(value)) {
      for (const key of Object.keys(value)) this.#member(value, key, { schema, path })
    }
  }

  #descend(value: unknown, schema: Schema, path: string): void {
    if (typeof value === 'object' && value !== null) this.#pending.push({ value, schema, path })
  }

  #member(object: JsonObject, key: string, within: { schema: Schema; path: string }): void {
    const { schema } = within
    if (schema.embeddedResource && metaFields.has(key)) return
    const path = within.path === '' ? key : `${within.path}.${key}`
    const declared = declaredSchema(schema, key)
    if (declared) {
      this.#descend(object[key], declared, path)
    } else if (!schema.preserveUnknownFields) {
      this.#characters += path.length
      if (this.#characters <= pruneLimits.pathCharactersMax) this.paths.push(path)
      delete object[key]
    }
  }
}

function declaredSchema(schema: Schema, key: string): Schema | undefined {
  const { properties, additionalProperties } = schema
  if (properties && Object.hasOwn(properties, key)) return properties[key]
  return additionalProperties
}

/**
 * Fills in the defaults of a CRD's schema, in place. A forbidden null counts as omitted: it gets
 * the default or is removed. Idempotent.
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
