import type { Schema } from '@skerry/api'
import type { GoField, GoStructs } from './go-structs.ts'

/**
 * Returns the definition with `omitZero` and `writesNull` on the fields that have it, which OpenAPI does not
 * contain.
 */
export function withZeroFields(name: string, schema: Schema, structs: GoStructs): Schema {
  const fields = structs.get(name)
  if (!fields || !schema.properties) return schema
  const nulls = new Set(fields.filter(writesNull).map((field) => field.name))
  const leftOut = new Set(fields.filter(isLeftOut).map((field) => field.name))
  const properties = Object.entries(schema.properties).map(([key, field]): [string, Schema] => {
    if (nulls.has(key)) return [key, { ...field, writesNull: true }]
    const isScalar = field.ref === undefined && scalarTypes.has(field.type ?? '')
    return [key, leftOut.has(key) && isScalar ? { ...field, omitZero: true } : field]
  })
  return { ...schema, properties: Object.fromEntries(properties) }
}

const scalarTypes: ReadonlySet<string> = new Set(['string', 'integer', 'number', 'boolean'])

/**
 * Returns whether an empty value is written as null: lists, maps, bytes and pointers without `omitempty`, and
 * times and raw objects, which are structs that `omitempty` never takes for empty. Named lists that the
 * stable types write without `omitempty` are listed here.
 */
function writesNull({ type, option }: GoField): boolean {
  if (/\.(?:Time|MicroTime|RawExtension)$/.test(type) && /^[\w.]+$/.test(type)) {
    return option !== 'omitzero'
  }
  return option === '' && (/^(?:\*|\[\]|map\[)/.test(type) || type.endsWith('.Verbs'))
}

/**
 * Returns whether an empty value is left out: `omitempty` on a plain value. OpenAPI does not distinguish it
 * from a pointer, whose false, 0 or "" has a meaning.
 */
function isLeftOut({ type, option }: GoField): boolean {
  return option !== '' && /^[\w.]+$/.test(type)
}
