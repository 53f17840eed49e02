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
  /** Unique in the environment: `string_to_int`. */
  readonly id: string
  /** The receiver comes first. */
  readonly isMember?: boolean
  readonly parameters: readonly CelType[]
  readonly result: CelType
  /** Throws CelRuntimeError. The arguments have the types of the parameters. */
  call(args: readonly CelValue[]): CelValue
  /** What a call has cost; 1 when not said. */
  cost?(args: readonly CelValue[], result: CelValue): number
  /** `cost` holds for calls whose overload is found at run time only, too. */
  readonly isCostByName?: boolean
  /** What a call may cost, and how large its result may be; 1 when not said. */
  estimate?(args: readonly SizeEstimate[]): CallEstimate
}

export interface Range {
  readonly min: number
  readonly max: number
}

/** What is known before evaluation about one argument. */
export interface SizeEstimate {
  readonly type: CelType
  /** Elements, characters or bytes; 1 for a scalar. */
  readonly size: Range
  /** The value, when the argument is a literal. */
  readonly literal?: CelValue | undefined
  /** Of a list: what is known about each of its elements. */
  element?(): SizeEstimate
}

export interface CallEstimate {
  readonly cost: Range
  readonly resultSize?: Range | undefined
}
