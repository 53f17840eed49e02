import { cloneJson, type JsonObject, type Schema, type SchemaSet } from '@skerry/api'

/** Zero objects by root schema. Callers must not change them. */
const zeroObjects = new WeakMap<Schema, JsonObject>()

/**
 * Returns the object that a create is compared with: for a built-in kind, upstream's type before
 * anything is set (`spec: {}`, `status: {}`, null for lists that are always written); for a custom
 * resource, an empty one. It decides which struct fields count as added.
 */
export function zeroObject(root: Schema, schemas: SchemaSet): JsonObject {
  const known = zeroObjects.get(root)
  if (known) return known
  const definition = resolve(root, schemas)
  const zero = definition.embeddedResource ? {} : zeroFields(definition, schemas)
  zeroObjects.set(root, zero)
  return zero
}

function zeroFields(definition: Schema, schemas: SchemaSet): JsonObject {
  const zero: JsonObject = {}
  for (const [key, field] of Object.entries(definition.properties ?? {})) {
    const { type } = resolve(field, schemas)
    if (field.default !== undefined && isZero(field.default)) {
      const isStruct = field.ref !== undefined && type === 'object'
      zero[key] = isStruct ? zeroFields(resolve(field, schemas), schemas) : cloneJson(field.default)
    } else if (field.writesNull) {
      zero[key] = null
    }
  }
  return zero
}

/** A server sets any other default, long after the type was created. */
function isZero(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0
  return value === '' || value === 0 || value === false
}

function resolve(schema: Schema, schemas: SchemaSet): Schema {
  return schema.ref === undefined ? schema : (schemas[schema.ref] ?? {})
}
