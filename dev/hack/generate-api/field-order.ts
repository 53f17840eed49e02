import type { Schema } from '@skerry/api'
import type { GoStructs } from './go-structs.ts'

/** The fields of every kind, which come first in its struct, inlined from another package. */
const typeFields = ['kind', 'apiVersion']

/** The definition with its properties in the order of the Go struct, in which upstream reads a merged map. */
export function withFieldOrder(name: string, schema: Schema, structs: GoStructs): Schema {
  const fields = structs.get(name)
  const { properties } = schema
  if (!fields || !properties) return schema
  const names = [...typeFields, ...fields.map((field) => field.name), ...Object.keys(properties)]
  const ordered = [...new Set(names)].flatMap((key): [string, Schema][] => {
    const field = properties[key]
    return field ? [[key, field]] : []
  })
  return { ...schema, properties: Object.fromEntries(ordered) }
}
