import { isJsonObject, type JsonObject } from '@skerry/api'
import { canonicalElement, comparePathElements, printPathElement } from './path-element.ts'
import { fieldSetLimits } from '../../limits-table.ts'

/**
 * A set of field paths, as in managedFields (FieldsV1): a tree whose edges are path elements
 * (`f:name`, `k:{"name":"a"}`, `v:"x"`, `i:0`). A node can be a member itself and have members
 * below it. Sets are values: no operation changes its arguments.
 */
export interface FieldSet {
  readonly isMember: boolean
  readonly children: ReadonlyMap<string, FieldSet>
}

export const noFields: FieldSet = Object.freeze({ isMember: false, children: new Map() })
export const oneField: FieldSet = Object.freeze({ isMember: true, children: new Map() })

export function isEmptySet(set: FieldSet): boolean {
  return !set.isMember && set.children.size === 0
}

export function unionOf(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmptySet(b)) return a
  if (isEmptySet(a)) return b
  const children = new Map(a.children)
  for (const [element, child] of b.children) {
    const other = children.get(element)
    children.set(element, other ? unionOf(other, child) : child)
  }
  return { isMember: a.isMember || b.isMember, children }
}

/** Returns the members of `a` that are not members of `b`. Members below a member of `b` stay. */
export function differenceOf(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmptySet(b)) return a
  return combine(a, a.isMember && !b.isMember, (element, child) => {
    const other = b.children.get(element)
    return other ? differenceOf(child, other) : child
  })
}

/** Does the same as differenceOf, but a member of `b` also removes everything below it. */
export function recursiveDifferenceOf(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmptySet(b)) return a
  if (b.isMember) return noFields
  return combine(a, a.isMember, (element, child) => {
    const other = b.children.get(element)
    return other ? recursiveDifferenceOf(child, other) : child
  })
}

export function intersectionOf(a: FieldSet, b: FieldSet): FieldSet {
  return combine(a, a.isMember && b.isMember, (element, child) => {
    const other = b.children.get(element)
    return other ? intersectionOf(child, other) : noFields
  })
}

function combine(
  set: FieldSet,
  isMember: boolean,
  childOf: (element: string, child: FieldSet) => FieldSet,
): FieldSet {
  const children = new Map<string, FieldSet>()
  for (const [element, child] of set.children) {
    const next = childOf(element, child)
    if (!isEmptySet(next)) children.set(element, next)
  }
  return isMember || children.size > 0 ? { isMember, children } : noFields
}

/** Returns the set of these paths, each a list of field names. */
export function fieldSetOf(paths: readonly (readonly string[])[]): FieldSet {
  let set = noFields
  for (const path of paths) {
    const only = path.reduceRight<FieldSet>(
      (below, name) => ({ isMember: false, children: new Map([[`f:${name}`, below]]) }),
      oneField,
    )
    set = unionOf(set, only)
  }
  return set
}

/** Encodes a set as FieldsV1. The root is never a member. */
export function encodeFieldSet(set: FieldSet): JsonObject {
  return encodeNode(set, {})
}

function encodeNode({ children }: FieldSet, fields: JsonObject): JsonObject {
  if (children.size === 0) return fields
  for (const element of [...children.keys()].toSorted()) {
    const child = children.get(element)
    if (child === undefined) continue
    const hasBoth = child.isMember && child.children.size > 0
    fields[element] = encodeNode(child, hasBoth ? { '.': {} } : {})
  }
  return fields
}

/**
 * Leaves out elements of a type that this version does not know. Throws RangeError if malformed or
 * nested deeper than twice what this server writes.
 */
export function decodeFieldSet(fields: unknown): FieldSet {
  const set = decodeNode(fields, 2 * fieldSetLimits.depthMax)
  return { isMember: false, children: set.children }
}

function decodeNode(fields: unknown, depthLeft: number): FieldSet {
  if (depthLeft === 0) throw new RangeError('Cannot decode fieldsV1: it is nested too deeply')
  if (!isJsonObject(fields)) throw new RangeError('Cannot decode fieldsV1: a node is not an object')
  const children = new Map<string, FieldSet>()
  let isMember = false
  for (const key of Object.keys(fields)) {
    if (key === '.') {
      isMember = true
      continue
    }
    const element = canonicalElement(key)
    if (element !== undefined) children.set(element, decodeNode(fields[key], depthLeft - 1))
  }
  return { isMember: isMember || children.size === 0, children }
}

/**
 * Returns every member's path as text, e.g. `.spec.containers[name="a"].image`, each before those
 * below it.
 */
export function pathsOf(set: FieldSet, prefix = ''): string[] {
  const elements = [...set.children].toSorted(([a], [b]) => comparePathElements(a, b))
  const paths: string[] = []
  for (const [element, child] of elements) {
    if (child.isMember) paths.push(prefix + printPathElement(element))
  }
  for (const [element, child] of elements) {
    if (child.children.size > 0) paths.push(...pathsOf(child, prefix + printPathElement(element)))
  }
  return paths
}
