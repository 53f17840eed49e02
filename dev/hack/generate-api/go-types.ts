import type { Schema } from '@skerry/api'
import type { GoStructs } from './go-structs.ts'

/**
 * Returns the definition with `goType` on the fields, items and values whose Go type has a name that OpenAPI
 * does not contain, and with `goWithin` on fields of inlined structs. Upstream's messages contain both if a
 * value has another type.
 */
export function withGoTypes(name: string, schema: Schema, structs: GoStructs): Schema {
  const fields = new Map(structs.get(name)?.map((field) => [field.name, field]))
  if (!schema.properties) return schema
  const properties = Object.entries(schema.properties).map(([key, field]): [string, Schema] => {
    const { type = '', within = [] } = fields.get(key) ?? {}
    const typed = withGoType(field, type)
    return [key, within.length > 0 ? { ...typed, goWithin: within.join('.') } : typed]
  })
  return { ...schema, properties: Object.fromEntries(properties) }
}

function withGoType(schema: Schema, declared: string): Schema {
  const type = declared.replace(/^\*/, '')
  if (schema.ref !== undefined || schema.type === undefined) return schema
  if (/^\w+\.\w+$/.test(type)) return { ...schema, goType: type }
  const [, item] = /^\[\](.+)$/.exec(type) ?? []
  if (item !== undefined && schema.items) {
    return { ...schema, items: withGoType(schema.items, item) }
  }
  const [, key, value] = /^map\[([\w.]+)\](.+)$/.exec(type) ?? []
  if (key === undefined || value === undefined || !schema.additionalProperties) return schema
  const additionalProperties = withGoType(schema.additionalProperties, value)
  return { ...schema, additionalProperties, ...(key === 'string' ? {} : { goType: type }) }
}
