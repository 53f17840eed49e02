import { isJsonObject, type Schema } from '@skerry/api'

interface At {
  readonly value: unknown
  readonly path: string
}

/**
 * Calls back with everything that a value holds and its schema declares. Keys of maps are in
 * brackets, as in upstream's paths.
 */
export function eachMember(
  schema: Schema,
  { value, path }: At,
  visit: (schema: Schema, at: At) => void,
): void {
  const { items, properties, additionalProperties } = schema
  if (Array.isArray(value)) {
    if (items) value.forEach((item, at) => visit(items, { value: item, path: `${path}[${at}]` }))
    return
  }
  if (!isJsonObject(value)) return
  for (const [key, member] of Object.entries(value)) {
    const declared = properties && Object.hasOwn(properties, key) ? properties[key] : undefined
    if (declared) visit(declared, { value: member, path: path === '' ? key : `${path}.${key}` })
    else if (additionalProperties) {
      visit(additionalProperties, { value: member, path: `${path}[${key}]` })
    }
  }
}
