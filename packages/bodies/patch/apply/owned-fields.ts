import { isJsonObject, type Schema, type SchemaSet } from '@skerry/api'
import { noFields, oneField, type FieldSet } from './field-set.ts'
import { fieldElement } from './path-element.ts'
import {
  deducedSchema,
  isDeclaredField,
  memberSchema,
  shapeOf,
  shapeOfValue,
  type Shape,
} from './shape.ts'

/** Returns the fields that the applier of this value owns. */
export function ownedFields(value: unknown, schema: Schema, schemas: SchemaSet): FieldSet {
  const shape = shapeOfValue(shapeOf(schema, schemas), value)
  if (shape.type === 'map') return value === null ? noFields : fieldsOfMap(value, shape, schemas)
  if (shape.type === 'list') return value === null ? noFields : fieldsOfList(value, shape, schemas)
  return oneField
}

function fieldsOfMap(
  value: unknown,
  shape: Extract<Shape, { type: 'map' }>,
  schemas: SchemaSet,
): FieldSet {
  if (!isJsonObject(value)) return noFields
  const children = new Map<string, FieldSet>()
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue
    const below = ownedFields(member, memberSchema(shape, key) ?? deducedSchema, schemas)
    const isMember =
      below.isMember || isEmptyMap(member) || member === null || !isDeclaredField(shape, key)
    if (isMember || below.children.size > 0) {
      children.set(fieldElement(key), { isMember, children: below.children })
    }
  }
  return { isMember: false, children }
}

function fieldsOfList(
  value: unknown,
  shape: Extract<Shape, { type: 'list' }>,
  schemas: SchemaSet,
): FieldSet {
  if (!Array.isArray(value)) return noFields
  const children = new Map<string, FieldSet>()
  for (const item of value) {
    const element = shape.elementOf(item)
    if (element === undefined) continue
    // If items are repeated, only their place is owned, because their fields are ambiguous.
    const isRepeated = children.has(element)
    const below = isRepeated ? noFields : ownedFields(item, shape.item, schemas)
    children.set(element, { isMember: true, children: below.children })
  }
  return { isMember: false, children }
}

function isEmptyMap(value: unknown): boolean {
  return isJsonObject(value) && Object.keys(value).length === 0
}

/**
 * Adds the declared fields on the way to a member: the owner of `spec.template.x` also owns the
 * field `template`, though not the keys of maps in between.
 */
export function withNamedFields(set: FieldSet, schema: Schema, schemas: SchemaSet): FieldSet {
  if (set.children.size === 0) return set
  const shape = shapeOf(schema, schemas)
  const children = new Map<string, FieldSet>()
  for (const [element, child] of set.children) {
    const key = element.slice(2)
    const isField = element.startsWith('f:')
    const below = isField && shape.type === 'map' ? memberSchema(shape, key) : itemSchema(shape)
    const next = withNamedFields(child, below ?? deducedSchema, schemas)
    const isNamed = isField && child.children.size > 0 && isDeclaredField(shape, key)
    children.set(element, { isMember: child.isMember || isNamed, children: next.children })
  }
  return { isMember: set.isMember, children }
}

/**
 * Adapts a set that was recorded under an older schema: the owner of something inside a present
 * leaf owns the whole leaf.
 */
export function reconciledFields(set: FieldSet, schema: Schema, schemas: SchemaSet): FieldSet {
  if (set.children.size === 0) return set
  const shape = shapeOf(schema, schemas)
  if (shape.type === 'leaf') return oneField
  if (shape.type === 'deduced') return set
  let children: Map<string, FieldSet> | undefined
  for (const [element, child] of set.children) {
    const below = shape.type === 'map' ? memberSchema(shape, element.slice(2)) : itemSchema(shape)
    const next = below ? reconciledFields(child, below, schemas) : child
    if (next === child) continue
    children ??= new Map(set.children)
    children.set(element, next)
  }
  return children ? { isMember: set.isMember, children } : set
}

function itemSchema(shape: Shape): Schema | undefined {
  return shape.type === 'list' ? shape.item : undefined
}
