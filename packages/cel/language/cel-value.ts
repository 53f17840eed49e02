import type { CelType, ListKind } from './cel-type.ts'

/**
 * A value of an expression. int is a bigint, double a number, string a string; the others have a
 * class each. `valueOfJson` converts plain JSON to such values.
 */
export type CelValue =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | CelUint
  | CelTimestamp
  | CelDuration
  | CelList
  | CelMap
  | CelObject
  | CelOpaque
  | CelOptional
  | CelTypeValue

export class CelUint {
  readonly value: bigint
  constructor(value: bigint) {
    this.value = value
  }
}

/** A point in time, in nanoseconds since 1970 in UTC. */
export class CelTimestamp {
  readonly nanos: bigint
  constructor(nanos: bigint) {
    this.nanos = nanos
  }
}

export class CelDuration {
  readonly nanos: bigint
  constructor(nanos: bigint) {
    this.nanos = nanos
  }
}

/** A list whose items may be created on demand. */
export interface CelList {
  readonly celKind: 'list'
  readonly size: number
  readonly listKind?: ListKind | undefined
  at(index: number): CelValue
}

/** A map. Keys are bool, int, uint or string. */
export interface CelMap {
  readonly celKind: 'map'
  readonly size: number
  /** Returns undefined if there is no such key. Numbers match each other across types. */
  get(key: CelValue): CelValue | undefined
  keys(): Iterable<CelValue>
}

/** A value with named fields. */
export interface CelObject {
  readonly celKind: 'object'
  readonly typeName: string
  /** Returns undefined if the field is not set. */
  get(field: string): CelValue | undefined
  /** Returns the names of the set fields. */
  fields(): Iterable<string>
  /** Compares objects; defined only if comparing the fields is not right. */
  equals?(other: CelValue): boolean
}

/** A value that only the functions of one library can use. */
export class CelOpaque {
  readonly type: CelType
  readonly value: unknown
  readonly equals: (other: CelOpaque) => boolean
  constructor(type: CelType, value: unknown, equals?: (other: CelOpaque) => boolean) {
    this.type = type
    this.value = value
    this.equals = equals ?? ((other) => other.value === value)
  }
}

export class CelOptional {
  readonly value: CelValue | undefined
  constructor(value: CelValue | undefined) {
    this.value = value
  }
}

export class CelTypeValue {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}
