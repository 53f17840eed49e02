import {
  fieldDuplicate,
  fieldInvalid,
  isJsonObject,
  memberOf,
  type JsonObject,
  type Schema,
  type StatusCause,
} from '@skerry/api'
import { isFull } from './full-causes.ts'
import { eachMember } from './schema-members.ts'

interface At {
  readonly value: unknown
  readonly path: string
}

/** Sets and list maps must not repeat an item. Each repeated item is reported once. */
export function checkLists(schema: Schema, { value, path }: At, causes: StatusCause[]): void {
  if (Array.isArray(value)) checkItems(schema, { value, path }, causes)
  eachMember(schema, { value, path }, (below, at) => {
    if (typeof at.value === 'object' && at.value !== null) checkLists(below, at, causes)
  })
}

function checkItems(
  schema: Schema,
  { value, path }: { value: readonly unknown[]; path: string },
  causes: StatusCause[],
): void {
  const { listType, listMapKeys = [], items } = schema
  if (listType !== 'set' && listType !== 'map') return
  const wrong = value.findIndex((item) => item !== null && !isJsonObject(item))
  if (listType === 'map' && wrong >= 0) {
    const detail = 'must be an object for an array of list-type map'
    causes.push(fieldInvalid(`${path}[${wrong}]`, value[wrong], detail))
    return
  }
  const counts = new Map<string, number>()
  value.forEach((item, at) => {
    if (isFull(causes)) return
    const identity = listType === 'map' ? listKeysOf(item, listMapKeys, items) : item
    const text = JSON.stringify(identity)
    const count = counts.get(text) ?? 0
    if (count === 1) causes.push(fieldDuplicate(`${path}[${at}]`, identity))
    counts.set(text, count + 1)
  })
}

/** Returns the keys that identify an item of a list map, including defaults. */
export function listKeysOf(
  item: unknown,
  keys: readonly string[],
  items: Schema | undefined,
): JsonObject {
  const found: JsonObject = {}
  if (!isJsonObject(item)) return found
  for (const key of keys) {
    const value = memberOf(item, key) ?? items?.properties?.[key]?.default
    if (value !== undefined) found[key] = value
  }
  return found
}
