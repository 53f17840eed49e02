import {
  cloneJson,
  isJsonObject,
  memberOf,
  type JsonObject,
  type Schema,
  type SchemaSet,
} from '@skerry/api'

/**
 * Fills in the defaults that the schema declares, in place: for built-in kinds, the values that a
 * Go struct always writes (`status: {}`, `name: ""`, null for lists and times) and the few real
 * ones. Idempotent.
 */
export function setDeclaredDefaults(
  object: JsonObject,
  schemas: SchemaSet,
  schemaName: string,
): void {
  fill(object, { ref: schemaName }, schemas)
}

function fill(value: unknown, schema: Schema, schemas: SchemaSet): void {
  if (typeof value !== 'object' || value === null) return
  const definition = schema.ref === undefined ? schema : (schemas[schema.ref] ?? {})
  if (Array.isArray(value)) {
    if (definition.items && hasDefaults(definition.items, schemas)) {
      for (const item of value) fill(item, definition.items, schemas)
    }
    return
  }
  if (!isJsonObject(value)) return
  if (definition.properties) fillFields(value, definition.properties, schemas)
  else if (
    definition.additionalProperties &&
    hasDefaults(definition.additionalProperties, schemas)
  ) {
    for (const member of Object.values(value))
      fill(member, definition.additionalProperties, schemas)
  }
}

function fillFields(
  object: JsonObject,
  properties: Readonly<Record<string, Schema>>,
  schemas: SchemaSet,
): void {
  for (const [key, field] of fieldsWithDefaults(properties, schemas)) {
    if (memberOf(object, key) === undefined) {
      if (isWritten(field)) object[key] = cloneJson(field.default)
      else if (field.writesNull) object[key] = null
    }
    const member = memberOf(object, key)
    if (member !== undefined) fill(member, field, schemas)
  }
}

/**
 * Turns empty lists of fields that are always written to null, in place, as upstream does when it
 * stores an object. Call this after the fields' owners are recorded.
 */
export function nullEmptyLists(object: JsonObject, schemas: SchemaSet, schemaName: string): void {
  const definition = schemas[schemaName]
  if (definition) emptyIn(object, definition, schemas)
}

function emptyIn(value: unknown, schema: Schema, schemas: SchemaSet): void {
  if (typeof value !== 'object' || value === null) return
  const definition = schema.ref === undefined ? schema : (schemas[schema.ref] ?? {})
  if (Array.isArray(value)) {
    const { items } = definition
    if (items && hasDefaults(items, schemas))
      for (const item of value) emptyIn(item, items, schemas)
    return
  }
  if (!isJsonObject(value) || !definition.properties) return
  for (const [key, field] of fieldsWithDefaults(definition.properties, schemas)) {
    const member = memberOf(value, key)
    if (field.writesNull && Array.isArray(member) && member.length === 0) value[key] = null
    else emptyIn(member, field, schemas)
  }
}

/** A zero that the type never writes is not a default. */
function isWritten({ default: value, omitZero }: Schema): boolean {
  return value !== undefined && !(omitZero && (value === 0 || value === '' || value === false))
}

/** Only these need a visit. They are found once per definition, because this runs on every decode. */
const fieldsOf = new WeakMap<object, readonly (readonly [string, Schema])[]>()

function fieldsWithDefaults(
  properties: Readonly<Record<string, Schema>>,
  schemas: SchemaSet,
): readonly (readonly [string, Schema])[] {
  const known = fieldsOf.get(properties)
  if (known) return known
  const fields = Object.entries(properties).filter(
    ([, field]) => field.default !== undefined || field.writesNull || hasDefaults(field, schemas),
  )
  fieldsOf.set(properties, fields)
  return fields
}

/**
 * Returns true if anything below may have a default. A reference may, because definitions can be
 * recursive.
 */
function hasDefaults(schema: Schema, schemas: SchemaSet): boolean {
  if (schema.ref !== undefined) return schemas[schema.ref]?.type === 'object'
  if (schema.items) return hasDefaults(schema.items, schemas)
  if (schema.additionalProperties) return hasDefaults(schema.additionalProperties, schemas)
  return schema.properties !== undefined
}
