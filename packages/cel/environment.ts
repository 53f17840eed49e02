import { CelRuntimeError } from './language/cel-errors.ts'
import { typeText, type CelType, type ObjectType } from './language/cel-type.ts'
import type { CelValue } from './language/cel-value.ts'
import { check, type Checked, type Declarations } from './check/checker.ts'
import { estimateCost } from './estimate/estimate-cost.ts'
import { Frame } from './evaluate/frame.ts'
import { plan } from './evaluate/plan.ts'
import { conversionFunctions } from './functions/conversions.ts'
import { operatorFunctions } from './functions/operators.ts'
import { textFunctions } from './functions/texts.ts'
import { timeFunctions } from './functions/times.ts'
import type { CelLibrary, Overload, Range } from './check/library.ts'
import { checkLiterals } from './literal-checks.ts'
import type { MacroGroup } from './syntax/macros.ts'
import { parse } from './syntax/parser.ts'
import { compileError } from './syntax/source.ts'
import { equalTypes } from './check/unify.ts'
import { valueOfJson } from './values/json-values.ts'
import { celBounds } from './limits-table.ts'

const evaluationLimits = celBounds.environment

export interface EnvironmentOptions {
  readonly variables: Readonly<Record<string, CelType>>
  /** The types of `objectType(name)`. */
  readonly types?: Readonly<Record<string, ObjectType>>
  readonly libraries?: readonly CelLibrary[]
  /** If true, list and map literals may mix types, which the language allows and Kubernetes does not. */
  readonly hasMixedLiterals?: boolean
}

export interface CelEnvironment {
  /** Returns the environment with more variables, types and libraries. */
  extend(options: Partial<EnvironmentOptions>): CelEnvironment
  /**
   * Parses and checks an expression. Its result must have one of the `expected` types. Throws
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
  /** The names of the variables that the expression uses. */
  readonly variables: ReadonlySet<string>
  /** Throws CelRuntimeError, or CelCostError above `costLimit`. Default: 1,000,000. */
  evaluate(bindings: Bindings, options?: EvaluateOptions): Evaluation
  /** Returns the least and the largest cost of an evaluation, by the bounds that types carry. */
  estimateCost(sizes?: SizesOf): Range
}

/**
 * Values by variable. Plain JSON is read by the variable's type; a CelValue is used as it is; a
 * function is called when the variable is first read, once per evaluation.
 */
export type Bindings = Readonly<Record<string, unknown>>

export interface EvaluateOptions {
  readonly costLimit?: number
}

export interface Evaluation {
  readonly value: CelValue
  readonly cost: number
}

/** Returns sizes that types do not carry, by path: `['object', 'spec', '@items']`. */
export type SizesOf = (path: readonly string[]) => Range | undefined

/** Creates an environment with the standard functions and those of `libraries`. */
export function createEnvironment(options: EnvironmentOptions): CelEnvironment {
  return environmentOf(extended(standard, options))
}

interface Scope extends Declarations {
  readonly macros: ReadonlySet<MacroGroup>
  readonly hasMixedLiterals: boolean
}

const standard: Scope = {
  variables: new Map(),
  types: new Map(),
  constants: new Map(),
  macros: new Set(),
  hasMixedLiterals: false,
  functions: new Map(
    [...operatorFunctions, ...conversionFunctions, ...textFunctions, ...timeFunctions].map(
      ({ name, overloads }) => [name, overloads],
    ),
  ),
}

function extended(scope: Scope, options: Partial<EnvironmentOptions>): Scope {
  const { variables = {}, types = {}, libraries = [] } = options
  const functions = new Map<string, readonly Overload[]>(scope.functions)
  for (const { name, overloads } of libraries.flatMap((library) => library.functions)) {
    const before = functions.get(name) ?? []
    const added = overloads.filter(({ id }) => !before.some((known) => known.id === id))
    functions.set(name, [...before, ...added])
  }
  const allTypes = [...libraries.map((library) => library.types ?? {}), types]
  return {
    variables: new Map([...scope.variables, ...Object.entries(variables)]),
    types: new Map([...scope.types, ...allTypes.flatMap((some) => Object.entries(some))]),
    constants: new Map([
      ...scope.constants,
      ...libraries.flatMap((library) => Object.entries(library.constants ?? {})),
    ]),
    macros: new Set([...scope.macros, ...libraries.flatMap((library) => library.macros ?? [])]),
    hasMixedLiterals: options.hasMixedLiterals ?? scope.hasMixedLiterals,
    functions: libraries.length === 0 ? scope.functions : functions,
  }
}

function environmentOf(scope: Scope): CelEnvironment {
  return {
    extend: (options) => environmentOf(extended(scope, options)),
    compile(text, { expected } = {}) {
      const expr = parse(text, scope.macros)
      const checked = check(text, expr, scope)
      checkLiterals(text, scope.hasMixedLiterals ? { ...checked, mixed: [] } : checked)
      const program = new Program(text, { scope, checked })
      checkResult(program, expected)
      return program
    },
  }
}

function checkResult(
  { text, resultType }: CelProgram,
  expected: readonly CelType[] | undefined,
): void {
  if (!expected || expected.some((type) => equalTypes(type, resultType))) return
  const names = expected.map(typeText)
  const what = names.length === 1 ? names[0] : `one of ${names.join(', ')}`
  throw compileError(text, [{ at: 0, message: `must evaluate to ${what}` }])
}

class Program implements CelProgram {
  readonly text: string
  readonly resultType: CelType
  readonly variables: ReadonlySet<string>
  readonly #scope: Scope
  readonly #checked: Checked
  #step: ReturnType<typeof plan> | undefined

  constructor(text: string, { scope, checked }: { scope: Scope; checked: Checked }) {
    this.text = text
    this.#scope = scope
    this.#checked = checked
    this.resultType = checked.types.get(checked.expr) ?? { kind: 'dyn' }
    const names = [...checked.names.values()].filter(({ kind }) => kind === 'variable')
    this.variables = new Set(names.map((name) => ('name' in name ? name.name : '')))
  }

  evaluate(
    bindings: Bindings,
    { costLimit = evaluationLimits.costMax }: EvaluateOptions = {},
  ): Evaluation {
    const { variables, types } = this.#scope
    const frame = new Frame((name) => {
      const bound: unknown = Object.hasOwn(bindings, name) ? bindings[name] : null
      const json: unknown = typeof bound === 'function' ? bound() : bound
      return valueOfJson(json, variables.get(name) ?? { kind: 'dyn' }, types)
    }, costLimit)
    this.#step ??= plan(this.#checked)
    try {
      const value = this.#step.run(frame)
      return { value, cost: frame.cost }
    } catch (error) {
      if (error instanceof CelRuntimeError) error.cost = frame.cost
      throw error
    }
  }

  estimateCost(sizes?: SizesOf): Range {
    const { variables, types } = this.#scope
    return estimateCost({ checked: this.#checked, variables, types, sizes })
  }
}
