import { CelRuntimeError } from '../language/cel-errors.ts'
import type { CelType } from '../language/cel-type.ts'
import { typeText } from '../language/cel-type.ts'
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

export function isList(value: CelValue): value is CelList {
  return (
    typeof value === 'object' && value !== null && 'celKind' in value && value.celKind === 'list'
  )
}

export function isMap(value: CelValue): value is CelMap {
  return (
    typeof value === 'object' && value !== null && 'celKind' in value && value.celKind === 'map'
  )
}

export function isObject(value: CelValue): value is CelObject {
  return (
    typeof value === 'object' && value !== null && 'celKind' in value && value.celKind === 'object'
  )
}

export function isNumber(value: CelValue): value is bigint | number | CelUint {
  return typeof value === 'bigint' || typeof value === 'number' || value instanceof CelUint
}

/** Returns the name that type() returns. */
export function typeNameOf(value: CelValue): string {
  if (value === null) return 'null_type'
  switch (typeof value) {
    case 'boolean':
      return 'bool'
    case 'bigint':
      return 'int'
    case 'number':
      return 'double'
    case 'string':
      return 'string'
    default:
      return nameOfObject(value)
  }
}

function nameOfObject(value: Exclude<CelValue, null | boolean | bigint | number | string>): string {
  if (value instanceof Uint8Array) return 'bytes'
  if (value instanceof CelUint) return 'uint'
  if (value instanceof CelTimestamp) return 'google.protobuf.Timestamp'
  if (value instanceof CelDuration) return 'google.protobuf.Duration'
  if (value instanceof CelOptional) return 'optional_type'
  if (value instanceof CelTypeValue) return 'type'
  if (value instanceof CelOpaque)
    return 'name' in value.type ? value.type.name : typeText(value.type)
  if (value.celKind === 'object') return value.typeName
  return value.celKind
}

const longNames = Object.freeze({
  null: 'null_type',
  timestamp: 'google.protobuf.Timestamp',
  duration: 'google.protobuf.Duration',
})

/** Returns true if a value has the type, without checking elements. */
export function hasType(value: CelValue, type: CelType): boolean {
  switch (type.kind) {
    case 'dyn':
    case 'parameter':
    case 'error':
      return true
    case 'list':
    case 'map':
    case 'type':
      return typeNameOf(value) === type.kind || (type.kind === 'map' && isObject(value))
    case 'object':
    case 'opaque':
      return typeNameOf(value) === type.name
    case 'null':
    case 'timestamp':
    case 'duration':
      return typeNameOf(value) === longNames[type.kind]
    default:
      return typeNameOf(value) === type.kind
  }
}

/** Returns the number of characters, bytes, elements or fields; 1 for anything without a size. */
export function sizeOf(value: CelValue): number {
  if (typeof value === 'string') return lengthOf(value)
  if (typeof value !== 'object' || value === null) return 1
  if (value instanceof Uint8Array) return value.length
  if (value instanceof CelOptional) return value.value === undefined ? 1 : sizeOf(value.value)
  if (isList(value) || isMap(value)) return value.size
  if (isObject(value)) return [...value.fields()].length
  if (value instanceof CelOpaque && isSized(value.value)) return value.value.celSize
  return 1
}

function isSized(value: unknown): value is { celSize: number } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'celSize' in value &&
    typeof value.celSize === 'number'
  )
}

/** Returns the length in code points. */
export function lengthOf(text: string): number {
  let length = text.length
  for (let at = 0; at < text.length - 1; at += 1) {
    const isPair =
      (text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00
    if (!isPair) continue
    length -= 1
    at += 1
  }
  return length
}

export function* itemsOf(list: CelList): Generator<CelValue> {
  for (let at = 0; at < list.size; at += 1) yield list.at(at)
}

export function listOf(items: readonly CelValue[]): CelList {
  return {
    celKind: 'list',
    size: items.length,
    at: (index) => items[index] ?? null,
  }
}

export function noSuchOverload(name?: string, args: readonly CelValue[] = []): CelRuntimeError {
  const signature = name === undefined ? '' : `: ${name}(${args.map(typeNameOf).join(', ')})`
  const reason = 'no such overload'
  return new CelRuntimeError(`${reason}${signature}`, reason)
}
