import { equalJson, isJsonObject, memberOf, setMember, type JsonObject } from '@skerry/api'
import type { Schema, SchemaSet } from '@skerry/api'
import { fieldElement, printPathElement } from './path-element.ts'
import { deducedSchema, memberSchema, shapeOf, shapeOfValue, type Shape } from './shape.ts'

/** One value in three places: where both sides began, and where each went. Undefined means omitted. */
export interface ThreeWays {
  readonly base: unknown
  readonly ours: unknown
  readonly theirs: unknown
}

/** A place that both sides changed, to different values. */
export interface Clash extends ThreeWays {
  /** The steps from the root, as in FieldsV1: `f:spec`, `k:{"name":"app"}`. Empty for the whole value. */
  readonly path: readonly string[]
}

export interface ThreeWayMerge {
  /** The value with the changes of both sides. */
  readonly merged: unknown
  readonly clashes: readonly Clash[]
}

/**
 * Merges two changes of one object. A place that one side changed keeps that change; a place that both changed alike
 * does not clash. Places are those of server-side apply: fields, members of maps, items of lists with keys, members of
 * sets. A scalar, an atomic list and an atomic map are one place each. A removal on one side and a change on the other
 * one clash, as a whole. The arguments do not change, and the result shares parts of them.
 */
export function mergeThreeWay(
  ways: ThreeWays,
  type: { readonly schema: Schema; readonly schemas: SchemaSet },
  winner: 'ours' | 'theirs',
): ThreeWayMerge {
  const merger = new Merger(type.schemas, winner)
  return { merged: merger.merge(ways, type.schema, []), clashes: merger.clashes }
}

/** Prints a path as upstream's messages do: `.spec.containers[name="app"].image`; `.` for the whole. */
export function printPath(path: readonly string[]): string {
  return path.length === 0 ? '.' : path.map(printPathElement).join('')
}

class Merger {
  readonly clashes: Clash[] = []
  readonly #schemas: SchemaSet
  readonly #winner: 'ours' | 'theirs'

  constructor(schemas: SchemaSet, winner: 'ours' | 'theirs') {
    this.#schemas = schemas
    this.#winner = winner
  }

  merge(ways: ThreeWays, schema: Schema, path: readonly string[]): unknown {
    const { base, ours, theirs } = ways
    if (equalJson(ours, theirs) || equalJson(base, ours)) return theirs
    if (equalJson(base, theirs)) return ours
    if (ours === undefined || theirs === undefined) return this.#clash(ways, path)
    const shape = shapeOf(schema, this.#schemas)
    const shapes = [ours, theirs].map((value) => shapeOfValue(shape, value))
    const areMaps = isJsonObject(ours) && isJsonObject(theirs)
    if (areMaps && shapes.every(isMap)) {
      const [own = shape] = shapes
      return this.#mergeMaps({ base: isJsonObject(base) ? base : {}, ours, theirs }, own, path)
    }
    if (shape.type === 'list' && Array.isArray(ours) && Array.isArray(theirs)) {
      const sides = [Array.isArray(base) ? base : [], ours, theirs].map((items) =>
        itemsOf(items, shape),
      )
      const [before, left, right] = sides
      if (before && left && right) {
        return this.#mergeLists({ base: before, ours: left, theirs: right }, shape, path)
      }
    }
    return this.#clash(ways, path)
  }

  #mergeMaps(
    { base, ours, theirs }: Record<keyof ThreeWays, JsonObject>,
    shape: Shape,
    path: readonly string[],
  ): JsonObject {
    const merged: JsonObject = {}
    for (const key of new Set([...Object.keys(theirs), ...Object.keys(ours)])) {
      const ways = {
        base: memberOf(base, key),
        ours: memberOf(ours, key),
        theirs: memberOf(theirs, key),
      }
      const schema = shape.type === 'map' ? memberSchema(shape, key) : undefined
      const value = this.merge(ways, schema ?? deducedSchema, [...path, fieldElement(key)])
      if (value !== undefined) setMember(merged, key, value)
    }
    return merged
  }

  #mergeLists(
    sides: Record<keyof ThreeWays, ReadonlyMap<string, unknown>>,
    { item }: Extract<Shape, { type: 'list' }>,
    path: readonly string[],
  ): unknown[] {
    const { base, ours, theirs } = sides
    const merged = new Map<string, unknown>()
    for (const element of new Set([...theirs.keys(), ...ours.keys()])) {
      const ways = {
        base: base.get(element),
        ours: ours.get(element),
        theirs: theirs.get(element),
      }
      const value = this.merge(ways, item, [...path, element])
      if (value !== undefined) merged.set(element, value)
    }
    const [first, second] = isReordered(base, theirs) ? [theirs, ours] : [ours, theirs]
    return mergedOrder([...first.keys()], [...second.keys()])
      .filter((element) => merged.has(element))
      .map((element) => merged.get(element))
  }

  #clash(ways: ThreeWays, path: readonly string[]): unknown {
    this.clashes.push({ path, ...ways })
    return ways[this.#winner]
  }
}

function isMap(shape: Shape): boolean {
  return shape.type === 'map' || shape.type === 'deduced'
}

/** Returns the items by their addresses. Undefined if one has none, or two have the same. */
function itemsOf(
  items: readonly unknown[],
  { elementOf }: Extract<Shape, { type: 'list' }>,
): ReadonlyMap<string, unknown> | undefined {
  const found = new Map<string, unknown>()
  for (const item of items) {
    const element = elementOf(item)
    if (element === undefined || found.has(element)) return undefined
    found.set(element, item)
  }
  return found
}

/** Returns true if items that are in both lists have another order. */
function isReordered(
  before: ReadonlyMap<string, unknown>,
  after: ReadonlyMap<string, unknown>,
): boolean {
  const kept = [...before.keys()].filter((element) => after.has(element))
  const now = [...after.keys()].filter((element) => before.has(element))
  return kept.some((element, at) => element !== now[at])
}

/** Returns the first order, with each item that only the second has behind the one that it follows there. */
function mergedOrder(first: readonly string[], second: readonly string[]): string[] {
  const order = [...first]
  const known = new Set(first)
  let place = 0
  for (const element of second) {
    if (known.has(element)) {
      place = order.indexOf(element) + 1
      continue
    }
    order.splice(place, 0, element)
    place += 1
  }
  return order
}
