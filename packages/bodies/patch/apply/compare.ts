import { hasListSentEmpty } from '../../encoding/sent-empty.ts'
import { equalJson, isJsonObject, memberOf, type Schema, type SchemaSet } from '@skerry/api'
import { isEmptySet, recursiveDifferenceOf, type FieldSet } from './field-set.ts'
import { fieldElement } from './path-element.ts'
import { deducedSchema, memberSchema, shapeOf, shapeOfValue, type Shape } from './shape.ts'

/** The changes of a write. No path is in two of the sets. */
export interface Comparison {
  readonly added: FieldSet
  readonly modified: FieldSet
  readonly removed: FieldSet
}

/** A node under construction, which becomes a FieldSet when the comparison is done. */
interface Node {
  isMember: boolean
  /** `noChildren` until there is one: three maps for each leaf would be most of a comparison's cost. */
  children: Map<string, Node>
}

/** Shared and never changed; see attach. */
const noChildren = new Map<string, Node>()

interface Nodes {
  readonly added: Node
  readonly modified: Node
  readonly removed: Node
}

export function compareObjects(
  before: unknown,
  after: unknown,
  type: { schema: Schema; schemas: SchemaSet },
): Comparison {
  const nodes = emptyNodes()
  new Comparer(type.schemas).compare({ before, after }, type.schema, nodes)
  return nodes
}

export function isUnchanged({ added, modified, removed }: Comparison): boolean {
  return isEmptySet(added) && isEmptySet(modified) && isEmptySet(removed)
}

/** Leaves out changes in and below these fields. */
export function withoutFields(comparison: Comparison, ignored: FieldSet): Comparison {
  return {
    added: recursiveDifferenceOf(comparison.added, ignored),
    modified: recursiveDifferenceOf(comparison.modified, ignored),
    removed: recursiveDifferenceOf(comparison.removed, ignored),
  }
}

interface Sides {
  /** The value before; undefined means omitted, and null is a value. */
  readonly before: unknown
  readonly after: unknown
}

class Comparer {
  readonly #schemas: SchemaSet

  constructor(schemas: SchemaSet) {
    this.#schemas = schemas
  }

  compare(sides: Sides, schema: Schema, nodes: Nodes): void {
    const { before, after } = sides
    if (before === after) return
    const shape = shapeOf(schema, this.#schemas)
    const left = shapeOfValue(shape, before ?? after)
    const right = shapeOfValue(shape, after ?? before)
    if (left.type !== right.type) {
      this.#compareMap(
        { before: asMap(before), after: asMap(after) },
        right.type === 'map' ? right : left,
        nodes,
      )
      nodes.modified.isMember = true
    } else if (right.type === 'leaf' || right.type === 'deduced' || areBothEmpty(sides)) {
      compareLeaf(sides, nodes)
    } else {
      if (right.type === 'map') this.#compareMap(sides, right, nodes)
      else this.#compareList(sides, right, nodes)
      if (before === undefined) nodes.added.isMember = true
      else if (after === undefined) nodes.removed.isMember = true
    }
  }

  #compareMap(sides: Sides, shape: Shape, nodes: Nodes): void {
    if (shape.type !== 'map') return
    const before = isJsonObject(sides.before) ? sides.before : {}
    const after = isJsonObject(sides.after) ? sides.after : {}
    for (const key of Object.keys(before)) {
      this.#compareMember(
        { before: before[key], after: memberOf(after, key) },
        { key, shape },
        nodes,
      )
    }
    for (const key of Object.keys(after)) {
      if (memberOf(before, key) !== undefined) continue
      this.#compareMember({ before: undefined, after: after[key] }, { key, shape }, nodes)
    }
  }

  #compareMember(
    sides: Sides,
    member: { key: string; shape: Extract<Shape, { type: 'map' }> },
    nodes: Nodes,
  ): void {
    if (sides.before === sides.after) return
    const schema = memberSchema(member.shape, member.key) ?? deducedSchema
    this.#compareBelow(sides, schema, { nodes, element: fieldElement(member.key) })
  }

  #compareList(sides: Sides, shape: Extract<Shape, { type: 'list' }>, nodes: Nodes): void {
    const before = itemsByElement(sides.before, shape)
    const after = itemsByElement(sides.after, shape)
    for (const [element, items] of before) {
      this.#compareItems(items, after.get(element) ?? [], { shape, nodes, element })
    }
    for (const [element, items] of after) {
      if (!before.has(element)) this.#compareItems([], items, { shape, nodes, element })
    }
  }

  /** Compares usually one item on each side; repeated ones are compared as a whole. */
  #compareItems(
    before: readonly unknown[],
    after: readonly unknown[],
    at: { shape: Extract<Shape, { type: 'list' }>; nodes: Nodes; element: string },
  ): void {
    const { item } = at.shape
    if (before.length <= 1 && after.length <= 1) {
      this.#compareBelow({ before: before[0], after: after[0] }, item, at)
    } else if (before.length > 1 && after.length > 1) {
      if (!equalJson(before, after)) markBelow(at.nodes.modified, at.element)
    } else if (before.length > 1) {
      if (after.length > 0) this.#compareBelow({ before: undefined, after: after[0] }, item, at)
      markBelow(at.nodes.removed, at.element)
    } else {
      if (before.length > 0) this.#compareBelow({ before: before[0], after: undefined }, item, at)
      markBelow(at.nodes.added, at.element)
    }
  }

  #compareBelow(sides: Sides, schema: Schema, at: { nodes: Nodes; element: string }): void {
    const below = emptyNodes()
    this.compare(sides, schema, below)
    attach(at.nodes.added, at.element, below.added)
    attach(at.nodes.modified, at.element, below.modified)
    attach(at.nodes.removed, at.element, below.removed)
  }
}

function compareLeaf({ before, after }: Sides, nodes: Nodes): void {
  if (before === undefined) nodes.added.isMember = true
  else if (after === undefined) nodes.removed.isMember = true
  else if (!equalJson(before, after) || hasListSentEmpty(after)) nodes.modified.isMember = true
}

function areBothEmpty({ before, after }: Sides): boolean {
  return isEmptyContainer(before) && isEmptyContainer(after)
}

function isEmptyContainer(value: unknown): boolean {
  if (value === undefined || value === null) return true
  if (Array.isArray(value)) return value.length === 0
  return isJsonObject(value) && Object.keys(value).length === 0
}

function asMap(value: unknown): unknown {
  return isJsonObject(value) ? value : undefined
}

function itemsByElement(
  value: unknown,
  shape: Extract<Shape, { type: 'list' }>,
): Map<string, unknown[]> {
  const items = new Map<string, unknown[]>()
  if (!Array.isArray(value)) return items
  for (const item of value) {
    const element = shape.elementOf(item)
    if (element === undefined) continue
    const same = items.get(element)
    if (same) same.push(item)
    else items.set(element, [item])
  }
  return items
}

function emptyNodes(): Nodes {
  return { added: emptyNode(), modified: emptyNode(), removed: emptyNode() }
}

function emptyNode(): Node {
  return { isMember: false, children: noChildren }
}

function attach(parent: Node, element: string, child: Node): void {
  if (isEmptySet(child)) return
  const known = parent.children.get(element)
  if (known === undefined) {
    if (parent.children === noChildren) parent.children = new Map()
    parent.children.set(element, child)
    return
  }
  known.isMember ||= child.isMember
  for (const [below, node] of child.children) attach(known, below, node)
}

function markBelow(parent: Node, element: string): void {
  attach(parent, element, { isMember: true, children: noChildren })
}
