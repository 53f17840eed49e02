import { CelRuntimeError } from '../language/cel-errors.ts'
import { celTypes, type CelType, type ListKind, type ObjectType } from '../language/cel-type.ts'
import {
  CelDuration,
  CelOpaque,
  CelOptional,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  type CelList,
  type CelMap,
  type CelObject,
  type CelValue,
} from '../language/cel-value.ts'
import { isList, isMap, isObject, itemsOf } from './kinds.ts'
import { durationText, parseDuration, parseTimestamp, timestampText } from './time-text.ts'

export type TypesByName = ReadonlyMap<string, ObjectType>

/** Converts JSON, or returns a value as it is. Nested values are converted on demand. */
export function valueOfJson(json: unknown, type: CelType, types: TypesByName): CelValue {
  if (isValue(json)) return json
  if (json === null || json === undefined) return null
  switch (typeof json) {
    case 'string':
      return textAs(json, type)
    case 'boolean':
      return json
    case 'number':
      return numberAs(json, type)
    case 'object':
      return Array.isArray(json) ? listOfJson(json, type, types) : recordOf(json, type, types)
    default:
      throw new CelRuntimeError(`unsupported type conversion to value: ${typeof json}`)
  }
}

function isValue(json: unknown): json is CelValue {
  if (typeof json === 'bigint') return true
  if (typeof json !== 'object' || json === null) return false
  if (valueClasses.some((one) => json instanceof one)) return true
  // JSON has no functions, so no JSON looks like a value.
  return (
    ('get' in json && typeof json.get === 'function') ||
    ('at' in json && typeof json.at === 'function' && !Array.isArray(json))
  )
}

const valueClasses = [
  Uint8Array,
  CelUint,
  CelOpaque,
  CelOptional,
  CelTimestamp,
  CelDuration,
  CelTypeValue,
] as const

function textAs(text: string, { kind }: CelType): CelValue {
  if (kind === 'timestamp') return new CelTimestamp(parseTimestamp(text))
  if (kind === 'duration') return new CelDuration(parseDuration(text))
  if (kind !== 'bytes') return text
  try {
    return Uint8Array.fromBase64(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw new CelRuntimeError('illegal base64 data')
    throw error
  }
}

function numberAs(value: number, { kind }: CelType): CelValue {
  return kind === 'double' || !Number.isInteger(value) ? value : BigInt(value)
}

function listOfJson(items: readonly unknown[], type: CelType, types: TypesByName): CelList {
  const element = type.kind === 'list' ? type.element : celTypes.dyn
  const listKind: ListKind | undefined = type.kind === 'list' ? type.listKind : undefined
  return {
    celKind: 'list',
    size: items.length,
    listKind,
    at: (index) => valueOfJson(items[index], element, types),
  }
}

function recordOf(json: object, type: CelType, types: TypesByName): CelMap | CelObject {
  // An object other than an array has members by name, whatever they are.
  const members = json as Readonly<Record<string, unknown>>
  if (type.kind === 'object') {
    const fields = types.get(type.name)
    if (fields) return objectOfJson(members, { typeName: type.name, fields: fields.fields, types })
  }
  const value = type.kind === 'map' ? type.value : celTypes.dyn
  const keys = Object.keys(members)
  return {
    celKind: 'map',
    size: keys.length,
    get: (key) =>
      typeof key === 'string' && Object.hasOwn(members, key)
        ? valueOfJson(members[key], value, types)
        : undefined,
    keys: () => keys,
  }
}

interface ObjectSource {
  readonly typeName: string
  readonly fields: ObjectType['fields']
  readonly types: TypesByName
}

function objectOfJson(
  members: Readonly<Record<string, unknown>>,
  { typeName, fields, types }: ObjectSource,
): CelObject {
  return {
    celKind: 'object',
    typeName,
    get(name) {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined
      const key = field?.jsonName ?? name
      if (!field || !Object.hasOwn(members, key)) return undefined
      return valueOfJson(members[key], field.type, types)
    },
    *fields() {
      for (const [name, { jsonName, isAlias }] of Object.entries(fields)) {
        if (isAlias !== true && Object.hasOwn(members, jsonName ?? name)) yield name
      }
    },
  }
}

/** Converts a value to JSON. Throws CelRuntimeError for values that JSON cannot represent. */
export function jsonOfValue(value: CelValue): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return value
  if (typeof value === 'bigint') return Number(value)
  if (value instanceof CelUint) return Number(value.value)
  if (value instanceof Uint8Array) return value.toBase64()
  if (value instanceof CelTimestamp) return timestampText(value.nanos)
  if (value instanceof CelDuration) return durationText(value.nanos)
  if (value instanceof CelOptional)
    return value.value === undefined ? null : jsonOfValue(value.value)
  if (isList(value)) return [...itemsOf(value)].map(jsonOfValue)
  if (isMap(value)) return recordOfMap(value)
  if (isObject(value)) {
    return Object.fromEntries(
      [...value.fields()].map((name) => [name, jsonOfValue(value.get(name) ?? null)]),
    )
  }
  throw new CelRuntimeError('unsupported type conversion to JSON')
}

function recordOfMap(map: CelMap): Record<string, unknown> {
  const entries = [...map.keys()].map((key) => [keyText(key), jsonOfValue(map.get(key) ?? null)])
  return Object.fromEntries(entries)
}

function keyText(key: CelValue): string {
  if (typeof key === 'string') return key
  if (typeof key === 'bigint' || typeof key === 'boolean') return String(key)
  if (key instanceof CelUint) return String(key.value)
  throw new CelRuntimeError('unsupported map key for JSON')
}
