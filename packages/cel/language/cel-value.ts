import type { CelType, ListKind } from './cel-type.ts'

/**
 * What an expression works on. int is a bigint, double a number, string a string; the others have
 * a class each. Plain JSON becomes such values through `valueOfJson`.
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

/** A moment, in nanoseconds since 1970 in UTC. */
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

/** A list whose items may be made when they are asked for. */
export interface CelList {
  readonly celKind: 'list'
  readonly size: number
  readonly listKind?: ListKind | undefined
  at(index: number): CelValue
}

/** Keys are bool, int, uint or string. */
export interface CelMap {
  readonly celKind: 'map'
  readonly size: number
  /** Undefined when there is no such key; numbers find each other across types. */
  get(key: CelValue): CelValue | undefined
  keys(): Iterable<CelValue>
}

/** A value with named fields. */
export interface CelObject {
  readonly celKind: 'object'
  readonly typeName: string
  /** Undefined when the field is not set. */
  get(field: string): CelValue | undefined
  /** Names of the fields that are set. */
  fields(): Iterable<string>
  /** Same object or equal in every field, when the object knows better than by its fields. */
  equals?(other: CelValue): boolean
}

/** A value that only the functions of one library understand. */
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
