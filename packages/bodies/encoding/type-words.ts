import type { Schema } from '@skerry/api'

/** Reports a value that does not have its field's type. */
export class FieldTypeError extends Error {
  override name = 'FieldTypeError'
}

/** The definition that a value should have, and the name that referred to it. */
export interface NamedType {
  readonly schema: Schema
  readonly name?: string | undefined
}

/** Returns Go's name of a type, e.g. `[]v1.Container`. */
export function goType({ schema, name }: NamedType): string {
  if (schema.ref !== undefined) return shortName(schema.ref)
  if (schema.goType !== undefined) return schema.goType
  switch (schema.type) {
    case 'array':
      return `[]${goType({ schema: schema.items ?? {} })}`
    case 'object':
      if (name !== undefined) return name
      return schema.additionalProperties
        ? `map[string]${goType({ schema: schema.additionalProperties })}`
        : 'map[string]interface {}'
    case 'string':
      return schema.format === 'byte' ? '[]uint8' : 'string'
    case 'integer':
      return schema.format === 'int32' ? 'int32' : 'int64'
    case 'number':
      return 'float64'
    case 'boolean':
      return 'bool'
    case undefined:
      return 'interface {}'
  }
}

/** Returns `v1.PodSpec` for `io.k8s.api.core.v1.PodSpec`. */
export function shortName(ref: string): string {
  return ref.split('.').slice(-2).join('.')
}

/** Returns the error of upstream's JSON decoder. `where` is `field` or `value` and its owner. */
export function undecodable(
  value: unknown,
  { where, type, literal = '' }: { where: string; type: string; literal?: string },
): FieldTypeError {
  const found = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value
  return new FieldTypeError(
    `json: cannot unmarshal ${found}${literal} into Go ${where} of type ${type}`,
  )
}

/** Returns upstream's error for a value that was decoded before its type was known. */
export function unconvertible(value: unknown, type: NamedType): FieldTypeError {
  const { schema } = type
  const found = goKindOf(value)
  if (schema.type === 'array' || schema.format === 'byte') {
    return new FieldTypeError(`cannot restore slice from ${found}`)
  }
  if (schema.type === 'object') {
    const isStruct = schema.properties !== undefined
    return new FieldTypeError(`cannot restore ${isStruct ? 'struct from:' : 'map from'} ${found}`)
  }
  if (schema.format === 'date-time' || schema.intOrString) {
    const wanted = schema.intOrString ? 'int32' : 'string'
    return undecodable(value, { where: 'value', type: wanted })
  }
  // Go converts a whole number to a text of one character, and a fraction to a whole number.
  const isNumber = schema.type === 'integer' || schema.type === 'number'
  const isForeseen = found === 'int64' ? schema.type === 'string' : found === 'float64' && isNumber
  if (isForeseen) return new FieldTypeError(`cannot convert ${found} to ${goType(type)}`)
  return new FieldTypeError(
    `unrecognized type: ${goType({ schema: { ...schema, goType: undefined } })}`,
  )
}

function goKindOf(value: unknown): string {
  if (Array.isArray(value)) return 'slice'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64'
  if (typeof value === 'boolean') return 'bool'
  return typeof value === 'string' ? 'string' : 'map'
}
