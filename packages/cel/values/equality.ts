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
import { isList, isMap, isNumber, isObject, itemsOf } from './kinds.ts'

/** Values of different types are unequal, except that numbers compare by value. */
export function areEqual(a: CelValue, b: CelValue): boolean {
  if (isNumber(a) && isNumber(b)) return compareNumbers(a, b) === 0
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b
  if (a instanceof Uint8Array) return b instanceof Uint8Array && compareBytes(a, b) === 0
  if (isList(a)) return isList(b) && equalLists(a, b)
  if (isMap(a)) return isMap(b) ? equalMaps(a, b) : isObject(b) && equalMaps(a, mapOfObject(b))
  if (isObject(a)) return equalObjects(a, b)
  if (a instanceof CelTimestamp) return b instanceof CelTimestamp && a.nanos === b.nanos
  if (a instanceof CelDuration) return b instanceof CelDuration && a.nanos === b.nanos
  if (a instanceof CelTypeValue) return b instanceof CelTypeValue && a.name === b.name
  if (a instanceof CelOpaque) return b instanceof CelOpaque && a.equals(b)
  if (!(a instanceof CelOptional && b instanceof CelOptional)) return false
  if (a.value === undefined || b.value === undefined) return a.value === b.value
  return areEqual(a.value, b.value)
}

/** Returns undefined for NaN. */
export function compareNumbers(
  a: bigint | number | CelUint,
  b: bigint | number | CelUint,
): number | undefined {
  const [whole, other] = [a, b].map((value) => (value instanceof CelUint ? value.value : value))
  if (whole === undefined || other === undefined) return undefined
  // A comparison with a double uses doubles, however large the whole number is.
  const isMixed = typeof whole !== typeof other
  const left = isMixed ? Number(whole) : whole
  const right = isMixed ? Number(other) : other
  if (left < right) return -1
  if (left > right) return 1
  return left === right ? 0 : undefined
}

export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at += 1) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0)
    if (difference !== 0) return Math.sign(difference)
  }
  return Math.sign(a.length - b.length)
}

/** Compares by code points; the engine's `<` compares code units. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at += 1) {
    const left = a.charCodeAt(at)
    const right = b.charCodeAt(at)
    if (left === right) continue
    const isLeftPair = left >= 0xd800 && left < 0xe000
    const isRightPair = right >= 0xd800 && right < 0xe000
    if (isLeftPair !== isRightPair) return isLeftPair ? 1 : -1
    return left < right ? -1 : 1
  }
  return Math.sign(a.length - b.length)
}

function equalLists(a: CelList, b: CelList): boolean {
  if (a.size !== b.size) return false
  const { listKind } = a
  if (listKind?.type === 'set') return everyIn(a, b) && everyIn(b, a)
  if (listKind?.type === 'map') return equalListMaps(a, b, listKind.keys)
  for (let at = 0; at < a.size; at += 1) {
    if (!areEqual(a.at(at), b.at(at))) return false
  }
  return true
}

function everyIn(a: CelList, b: CelList): boolean {
  return [...itemsOf(a)].every((item) => [...itemsOf(b)].some((other) => areEqual(item, other)))
}

function equalListMaps(a: CelList, b: CelList, keys: readonly string[]): boolean {
  const others = new Map([...itemsOf(b)].map((item) => [identityOf(item, keys), item]))
  return [...itemsOf(a)].every((item) => {
    const other = others.get(identityOf(item, keys))
    return other !== undefined && areEqual(item, other)
  })
}

/** Returns the text that identifies an item of a list map. */
export function identityOf(item: CelValue, keys: readonly string[]): string {
  const values = keys.map((key) => {
    const value = isObject(item) ? item.get(key) : isMap(item) ? item.get(key) : undefined
    return typeof value === 'bigint' ? `${value}` : JSON.stringify(value ?? null)
  })
  return values.join('\n')
}

function equalMaps(a: CelMap, b: CelMap): boolean {
  if (a.size !== b.size) return false
  for (const key of a.keys()) {
    const left = a.get(key)
    const right = b.get(key)
    if (left === undefined || right === undefined || !areEqual(left, right)) return false
  }
  return true
}

function equalObjects(a: CelObject, b: CelValue): boolean {
  if (a.equals) return a.equals(b)
  if (isMap(b)) return equalMaps(mapOfObject(a), b)
  if (!isObject(b) || a.typeName !== b.typeName) return false
  return equalMaps(mapOfObject(a), mapOfObject(b))
}

function mapOfObject(object: CelObject): CelMap {
  const fields = [...object.fields()]
  return {
    celKind: 'map',
    size: fields.length,
    get: (key) => (typeof key === 'string' ? object.get(key) : undefined),
    keys: () => fields,
  }
}
