import { celTypes, objectType, type CelType, type ObjectField, type ObjectType } from '@skerry/cel'
import type { Schema } from '@skerry/api'
import { escapeFieldName, isNameAfterDot } from './field-names.ts'
import { requestBytesMax } from '../limits-table.ts'

/** The type of a schema's values in expressions. */
export interface DeclaredType {
  readonly type: CelType
  /** The smallest size of such a value in JSON, in bytes. */
  readonly bytesMin: number
  /** The properties that have types; expressions cannot name others. */
  readonly properties?: ReadonlyMap<string, DeclaredType>
  /** The type of a list's items or a map's values. */
  readonly element?: DeclaredType
}

/** Object types by the names that the declared types refer to. */
export type ObjectTypes = Record<string, ObjectType>

const leastBytes = Object.freeze({
  boolean: 4,
  number: 1,
  text: 2,
  duration: 3,
  date: 12,
  time: 21,
})
const rootName = 'selfType'

/** Returns the type of a schema, or undefined if expressions cannot see its values. */
export function declareSchema(
  schema: Schema,
  types: ObjectTypes,
  name = rootName,
): DeclaredType | undefined {
  if (schema.intOrString)
    return { type: { kind: 'dyn', maxElements: textMax(schema) }, bytesMin: 1 }
  if (schema.ref !== undefined) return declareSchema(metadataSchema, types, name)
  switch (schema.type) {
    case 'array':
      return declareList(schema, types, name)
    case 'object':
      return schema.additionalProperties
        ? declareMap(schema, types, name)
        : declareObject(schema, types, name)
    case 'string':
      return declareText(schema)
    case 'boolean':
      return { type: celTypes.bool, bytesMin: leastBytes.boolean }
    case 'number':
      return { type: celTypes.double, bytesMin: leastBytes.number }
    case 'integer':
      return { type: celTypes.int, bytesMin: leastBytes.number }
    default:
      return undefined
  }
}

/** Expressions can see only the names in metadata. */
const metadataSchema: Schema = {
  type: 'object',
  properties: { name: { type: 'string' }, generateName: { type: 'string' } },
}

export function boundOf(schema: Schema, name: string): number | undefined {
  const value = schema.validations?.[name]
  return typeof value === 'number' ? Math.max(value, 0) : undefined
}

function declareList(schema: Schema, types: ObjectTypes, name: string): DeclaredType | undefined {
  const element = schema.items && declareSchema(schema.items, types, `${name}.@idx`)
  if (!element) return undefined
  const { listType, listMapKeys = [] } = schema
  const maxElements =
    boundOf(schema, 'maxItems') ?? Math.trunc((requestBytesMax - 2) / (element.bytesMin + 1))
  const kind =
    listType === 'set'
      ? { listKind: { type: 'set' } as const }
      : listType === 'map'
        ? { listKind: { type: 'map', keys: listMapKeys } as const }
        : {}
  return {
    type: { kind: 'list', element: element.type, maxElements, ...kind },
    bytesMin: 2,
    element,
  }
}

function declareMap(schema: Schema, types: ObjectTypes, name: string): DeclaredType | undefined {
  const { additionalProperties } = schema
  const element =
    additionalProperties && declareSchema(additionalProperties, types, `${name}.@elem`)
  if (!element) return undefined
  const maxElements =
    boundOf(schema, 'maxProperties') ?? Math.trunc((requestBytesMax - 2) / (element.bytesMin + 6))
  const type: CelType = { kind: 'map', key: celTypes.string, value: element.type, maxElements }
  return { type, bytesMin: 2, element }
}

function declareObject(schema: Schema, types: ObjectTypes, name: string): DeclaredType {
  const fields: Record<string, ObjectField> = {}
  const properties = new Map<string, DeclaredType>()
  const required = new Set(schema.required)
  let bytesMin = 2
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    const declared = declareSchema(property, types, `${name}.${key}`)
    if (!declared) continue
    properties.set(key, declared)
    const field = escapeFieldName(key)
    if (field !== undefined) fields[field] = { type: declared.type, jsonName: key }
    if (isNameAfterDot(key)) fields[key] = { type: declared.type, isAlias: true }
    const isNeeded = required.has(key) && property.default === undefined
    if (isNeeded) bytesMin += key.length + declared.bytesMin + 4
  }
  types[name] = { fields }
  return { type: objectType(name), bytesMin, properties }
}

function declareText(schema: Schema): DeclaredType {
  const own = boundOf(schema, 'maxLength')
  switch (schema.format) {
    case 'byte':
      return {
        type: { kind: 'bytes', maxElements: own ?? requestBytesMax - 2 },
        bytesMin: leastBytes.text,
      }
    case 'duration':
      return { type: { kind: 'duration', maxElements: 32 }, bytesMin: leastBytes.duration }
    case 'date':
      return { type: { kind: 'timestamp', maxElements: 12 }, bytesMin: leastBytes.date }
    case 'date-time':
      return { type: { kind: 'timestamp', maxElements: 32 }, bytesMin: leastBytes.time }
    default:
      return {
        type: { kind: 'string', maxElements: textMax(schema) },
        bytesMin: leastBytes.text,
      }
  }
}

/** Returns the largest size in bytes; a character may have four. */
function textMax(schema: Schema): number {
  const own = boundOf(schema, 'maxLength')
  if (own !== undefined) return own * 4
  const texts = (schema.enum ?? []).filter((value) => typeof value === 'string')
  if (!schema.intOrString && (schema.enum ?? []).length > 0) {
    return Math.max(0, ...texts.map((text) => new TextEncoder().encode(text).length))
  }
  return requestBytesMax - 2
}
