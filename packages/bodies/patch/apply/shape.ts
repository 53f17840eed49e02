import type { Schema, SchemaSet } from '@skerry/api'
import { keyElement, valueElement } from './path-element.ts'
import { fieldSetLimits } from '../../limits-table.ts'

/**
 * The ownership structure of a type: a leaf is owned as a whole (scalars, atomic lists and maps),
 * maps and associative lists are owned by field and by item. `deduced` is a value without a schema:
 * its maps are granular, everything else is a leaf.
 */
export type Shape =
  | { readonly type: 'leaf' }
  | {
      readonly type: 'deduced'
      /** The shape of a map in this place, whose own maps have it again, as far as ownership goes. */
      readonly map: Shape
    }
  | {
      readonly type: 'map'
      readonly fields: Readonly<Record<string, Schema>> | undefined
      /** The schema of keys that are not declared fields. */
      readonly element: Schema | undefined
    }
  | {
      readonly type: 'list'
      readonly item: Schema
      /** Returns the address of an item, or undefined if it cannot be addressed. */
      readonly elementOf: (item: unknown) => string | undefined
    }

/** An object of any type, owned as a whole. */
const rawExtension = 'io.k8s.apimachinery.pkg.runtime.RawExtension'
const leaf: Shape = Object.freeze({ type: 'leaf' })

/** Shapes are computed once per schema, because every field of every write needs one. */
const shapes = new WeakMap<Schema, Shape>()

/** Stands for a value without a schema. */
export const deducedSchema: Schema = Object.freeze({ preserveUnknownFields: true })
const deduced = deducedShape()
shapes.set(deducedSchema, deduced)

/** Nests maps in maps until the innermost is owned as a whole. */
function deducedShape(): Shape {
  let shape: Shape = leaf
  for (let depth = 0; depth < fieldSetLimits.depthMax; depth += 1) {
    const element: Schema = Object.freeze({ preserveUnknownFields: true })
    shapes.set(element, shape)
    shape = { type: 'deduced', map: { type: 'map', fields: undefined, element } }
  }
  return shape
}

export function isRawExtension({ ref }: Schema): boolean {
  return ref === rawExtension
}

export function shapeOf(schema: Schema, schemas: SchemaSet): Shape {
  const known = shapes.get(schema)
  if (known) return known
  const shape = findShape(schema, schemas)
  shapes.set(schema, shape)
  return shape
}

function findShape(schema: Schema, schemas: SchemaSet): Shape {
  if (isRawExtension(schema)) return leaf
  const definition = schema.ref === undefined ? schema : (schemas[schema.ref] ?? {})
  if ((schema.mapType ?? definition.mapType) === 'atomic') return leaf
  if (definition.type === 'array')
    return listShape({ ...definition, ...listTypeOf(schema) }, schemas)
  if (definition.type === 'object' || definition.properties) return mapShape(definition)
  return definition.preserveUnknownFields && !definition.intOrString ? deduced : leaf
}

function mapShape(definition: Schema): Shape {
  const { properties, additionalProperties, preserveUnknownFields } = definition
  if (!properties && !additionalProperties) return deduced
  const rest = preserveUnknownFields ? deducedSchema : undefined
  return { type: 'map', fields: properties, element: additionalProperties ?? rest }
}

function listTypeOf(schema: Schema): Pick<Schema, 'listType'> {
  return schema.listType ? { listType: schema.listType } : {}
}

function listShape(definition: Schema, schemas: SchemaSet): Shape {
  const item = definition.items ?? {}
  const { listType, listMapKeys, patchStrategy, patchMergeKey } = definition
  const isMerged = listType === undefined && patchStrategy?.includes('merge') === true
  if (listType === 'map' || (isMerged && patchMergeKey !== undefined)) {
    const keys = listMapKeys ?? [patchMergeKey ?? '']
    const fields = (item.ref === undefined ? item : schemas[item.ref])?.properties
    return { type: 'list', item, elementOf: (value) => keyElement(value, keys, fields) }
  }
  if (listType === 'set' || isMerged) return { type: 'list', item, elementOf: valueElement }
  return leaf
}

/** Returns the schema of a map's member, or undefined if the member is not declared. */
export function memberSchema(
  shape: Extract<Shape, { type: 'map' }>,
  key: string,
): Schema | undefined {
  if (shape.fields && Object.hasOwn(shape.fields, key)) return shape.fields[key]
  return shape.element
}

/** Returns true if the member is a declared field instead of a key that a user chose. */
export function isDeclaredField(shape: Shape, key: string): boolean {
  return shape.type === 'map' && shape.fields !== undefined && Object.hasOwn(shape.fields, key)
}

/** Returns the shape of a value whose type is deduced: maps are granular. */
export function shapeOfValue(shape: Shape, value: unknown): Shape {
  if (shape.type !== 'deduced') return shape
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isMap ? shape.map : leaf
}
