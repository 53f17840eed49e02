import type { CelType, ObjectType } from '../language/cel-type.ts'
import type { CelValue } from '../language/cel-value.ts'
import type { MacroGroup } from '../syntax/macros.ts'

/** Functions, types and constants that an environment adds to the language. */
export interface CelLibrary {
  readonly name: string
  readonly functions: readonly FunctionDeclaration[]
  readonly macros?: readonly MacroGroup[]
  readonly types?: Readonly<Record<string, ObjectType>>
  readonly constants?: Readonly<Record<string, { type: CelType; value: CelValue }>>
}

export interface FunctionDeclaration {
  readonly name: string
  readonly overloads: readonly Overload[]
}

export interface Overload {
  /** The overload's id, unique in the environment: `string_to_int`. */
  readonly id: string
  /** True if the receiver comes first. */
  readonly isMember?: boolean
  readonly parameters: readonly CelType[]
  readonly result: CelType
  /** Throws CelRuntimeError. The arguments have the types of the parameters. */
  call(args: readonly CelValue[]): CelValue
  /** Returns the cost of a call. If omitted, 1. */
  cost?(args: readonly CelValue[], result: CelValue): number
  /** True if `cost` also applies to calls whose overload is found only at run time. */
  readonly isCostByName?: boolean
  /** Returns the possible cost of a call, and the possible size of its result. If omitted, 1. */
  estimate?(args: readonly SizeEstimate[]): CallEstimate
}

export interface Range {
  readonly min: number
  readonly max: number
}

/** The facts about one argument that are known before evaluation. */
export interface SizeEstimate {
  readonly type: CelType
  /** The number of elements, characters or bytes; 1 for a scalar. */
  readonly size: Range
  /** The value if the argument is a literal. */
  readonly literal?: CelValue | undefined
  /** Returns what is known about each element of a list. */
  element?(): SizeEstimate
}

export interface CallEstimate {
  readonly cost: Range
  readonly resultSize?: Range | undefined
}
