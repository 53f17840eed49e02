import type { CelType, ObjectType } from './cel-type.ts'
import type { CelValue } from './cel-value.ts'
import type { CelLibrary, Range } from './library.ts'

export interface EnvironmentOptions {
  readonly variables: Readonly<Record<string, CelType>>
  /** Of `objectType(name)`. */
  readonly types?: Readonly<Record<string, ObjectType>>
  readonly libraries?: readonly CelLibrary[]
}

export interface CelEnvironment {
  /**
   * Parses and checks. `expected` are the result types that are allowed, any of them. Throws
   * CelCompileError.
   */
  compile(text: string, options?: CompileOptions): CelProgram
}

export interface CompileOptions {
  readonly expected?: readonly CelType[]
}

export interface CelProgram {
  readonly text: string
  readonly resultType: CelType
  /** Names of the variables that the expression uses. */
  readonly variables: ReadonlySet<string>
  /** Throws CelRuntimeError, or CelCostError past `costLimit` (1,000,000 when not said). */
  evaluate(bindings: Bindings, options?: EvaluateOptions): Evaluation
  /** What an evaluation costs at least and at most, by the bounds that types carry. */
  estimateCost(sizes?: SizesOf): Range
}

/**
 * By variable. Plain JSON is read by the variable's type; a CelValue is taken as it is; a function
 * is called when the variable is first read, once in an evaluation.
 */
export type Bindings = Readonly<Record<string, unknown>>

export interface EvaluateOptions {
  readonly costLimit?: number
}

export interface Evaluation {
  readonly value: CelValue
  readonly cost: number
}

/** Sizes that types do not carry, by path: `['object', 'spec', '@items']`. */
export type SizesOf = (path: readonly string[]) => Range | undefined

/** An environment with the standard functions and those of `libraries`. */
export function createEnvironment(options: EnvironmentOptions): CelEnvironment {
  return {
    compile(text) {
      const names = Object.keys(options.variables).length
      throw new RangeError(`Cannot compile ${JSON.stringify(text)}: ${names} variables`)
    },
  }
}
