import { celTypes, listType, mapType, objectType, type CelType, type ObjectType } from '@skerry/cel'
import type { Schema, SchemaSet } from '@skerry/api'

/** A kind's schema as the types of expressions. */
export interface TypedSchema {
  readonly type: CelType
  readonly types: Readonly<Record<string, ObjectType>>
}

/** Definitions become types under their own names; unnamed types are named after their path. */
export function typedSchema(schemas: SchemaSet, schemaName: string): TypedSchema {
  const types: Record<string, ObjectType> = {}
  const type = typeOf({ ref: schemaName }, schemaName, { schemas, types })
  return { type, types }
}

interface Made {
  readonly schemas: SchemaSet
  readonly types: Record<string, ObjectType>
}

function typeOf(schema: Schema, name: string, made: Made): CelType {
  if (schema.ref !== undefined) {
    const definition = made.schemas[schema.ref]
    return definition ? typeOf(definition, schema.ref, made) : celTypes.dyn
  }
  if (schema.intOrString || schema.preserveUnknownFields) return celTypes.dyn
  switch (schema.type) {
    case 'array':
      return listType(schema.items ? typeOf(schema.items, `${name}.@idx`, made) : celTypes.dyn)
    case 'object':
      return typeOfObject(schema, name, made)
    case 'string':
      return textTypes[schema.format ?? ''] ?? celTypes.string
    case 'boolean':
      return celTypes.bool
    case 'number':
      return celTypes.double
    case 'integer':
      return celTypes.int
    case undefined:
      return celTypes.dyn
  }
}

const textTypes: Readonly<Record<string, CelType>> = Object.freeze({
  byte: celTypes.bytes,
  'date-time': celTypes.timestamp,
  date: celTypes.timestamp,
  duration: celTypes.duration,
  'int-or-string': celTypes.dyn,
  quantity: celTypes.dyn,
})

function typeOfObject(schema: Schema, name: string, made: Made): CelType {
  if (schema.additionalProperties) {
    return mapType(celTypes.string, typeOf(schema.additionalProperties, `${name}.@elem`, made))
  }
  if (!schema.properties) return celTypes.dyn
  if (!Object.hasOwn(made.types, name)) {
    const fields: Record<string, { type: CelType }> = {}
    // The type is registered before its fields, because a definition may contain itself.
    made.types[name] = { fields }
    for (const [field, of] of Object.entries(schema.properties)) {
      fields[field] = { type: typeOf(of, `${name}.${field}`, made) }
    }
  }
  return objectType(name)
}
