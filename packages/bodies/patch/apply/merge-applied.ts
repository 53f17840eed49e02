import {
  isJsonObject,
  memberOf,
  setMember,
  type JsonObject,
  type Schema,
  type SchemaSet,
} from '@skerry/api'
import type { FieldSet } from './field-set.ts'
import { fieldElement } from './path-element.ts'
import { deducedSchema, memberSchema, shapeOf, shapeOfValue, type Shape } from './shape.ts'

type MapShape = Extract<Shape, { type: 'map' }>
type ListShape = Extract<Shape, { type: 'list' }>

/**
 * Returns the live value overlaid with the applied one. Shares unchanged parts with its arguments.
 * Returns undefined if there is neither.
 */
export function mergeApplied(
  live: unknown,
  applied: unknown,
  type: { schema: Schema; schemas: SchemaSet },
): unknown {
  if (applied === undefined) return live
  if (live === undefined) return applied
  const shape = shapeOf(type.schema, type.schemas)
  const right = shapeOfValue(shape, applied ?? live)
  if (right.type === 'map') return mergeMaps(live, applied, { shape: right, schemas: type.schemas })
  if (right.type === 'list')
    return mergeLists(live, applied, { shape: right, schemas: type.schemas })
  return applied
}

function mergeMaps(
  live: unknown,
  applied: unknown,
  type: { shape: MapShape; schemas: SchemaSet },
): unknown {
  if (!isJsonObject(live) || Object.keys(live).length === 0) return applied
  if (!isJsonObject(applied)) return live
  const merged: JsonObject = { ...live }
  for (const [key, value] of Object.entries(applied)) {
    const schema = memberSchema(type.shape, key) ?? deducedSchema
    const member = mergeApplied(memberOf(live, key), value, { schema, schemas: type.schemas })
    setMember(merged, key, member)
  }
  return merged
}

function mergeLists(
  live: unknown,
  applied: unknown,
  type: { shape: ListShape; schemas: SchemaSet },
): unknown {
  if (!Array.isArray(live) || live.length === 0) return applied
  if (!Array.isArray(applied) || applied.length === 0) return live
  const { shape, schemas } = type
  const left = live.map((item: unknown) => ({ element: shape.elementOf(item) ?? '', item }))
  const right = applied.map((item: unknown) => ({ element: shape.elementOf(item) ?? '', item }))
  const known = new Map<string, unknown>()
  // A repeated item cannot be merged with, because it is ambiguous.
  for (const { element, item } of left) known.set(element, known.has(element) ? undefined : item)
  return interleave(left, right).map(({ element, item, isApplied }) =>
    isApplied ? mergeApplied(known.get(element), item, { schema: shape.item, schemas }) : item,
  )
}

interface Item {
  readonly element: string
  readonly item: unknown
}

/** Uses the applied order. Items that only the live list has keep their place before the next shared item. */
function interleave(
  live: readonly Item[],
  applied: readonly Item[],
): (Item & { isApplied: boolean })[] {
  const inLive = new Set(live.map(({ element }) => element))
  const inApplied = new Set(applied.map(({ element }) => element))
  const shared = applied.filter(({ element }) => inLive.has(element)).map(({ element }) => element)
  const out: (Item & { isApplied: boolean })[] = []
  const taken = new Set<string>()
  let nextShared = 0
  let at = 0
  for (const item of applied) {
    // Adds everything of the live list up to the item that is due next.
    for (; at < live.length; at += 1) {
      const candidate = live[at]
      if (candidate === undefined) break
      const isShared = inApplied.has(candidate.element)
      if (isShared && !taken.has(candidate.element) && candidate.element === shared[nextShared])
        break
      if (!isShared) out.push({ ...candidate, isApplied: false })
    }
    out.push({ ...item, isApplied: true })
    taken.add(item.element)
    if (item.element !== shared[nextShared]) continue
    nextShared += 1
    if (live[at]?.element === item.element) at += 1
  }
  const rest = live.slice(at).filter(({ element }) => !inApplied.has(element))
  return [...out, ...rest.map((item) => ({ ...item, isApplied: false }))]
}

/** Returns a value without the members of a set, or null if nothing of a map or list is left. */
export function removeFields(
  value: unknown,
  removed: FieldSet,
  type: { schema: Schema; schemas: SchemaSet },
): unknown {
  if (removed.children.size === 0) return value
  const shape = shapeOfValue(shapeOf(type.schema, type.schemas), value)
  if (shape.type === 'map' && isJsonObject(value)) {
    return removeFromMap(value, removed, { shape, schemas: type.schemas })
  }
  if (shape.type === 'list' && Array.isArray(value)) {
    return removeFromList(value, removed, { shape, schemas: type.schemas })
  }
  return value
}

function removeFromMap(
  map: JsonObject,
  removed: FieldSet,
  type: { shape: MapShape; schemas: SchemaSet },
): unknown {
  const kept: JsonObject = {}
  for (const [key, member] of Object.entries(map)) {
    const below = removed.children.get(fieldElement(key))
    if (below?.isMember) continue
    const schema = memberSchema(type.shape, key) ?? deducedSchema
    const left = below ? removeFields(member, below, { schema, schemas: type.schemas }) : member
    setMember(kept, key, left)
  }
  return Object.keys(kept).length > 0 ? kept : null
}

function removeFromList(
  list: readonly unknown[],
  removed: FieldSet,
  type: { shape: ListShape; schemas: SchemaSet },
): unknown {
  const { shape, schemas } = type
  const kept: unknown[] = []
  for (const item of list) {
    const element = shape.elementOf(item)
    const below = element === undefined ? undefined : removed.children.get(element)
    if (below?.isMember) continue
    kept.push(below ? removeFields(item, below, { schema: shape.item, schemas }) : item)
  }
  return kept.length > 0 ? kept : null
}
