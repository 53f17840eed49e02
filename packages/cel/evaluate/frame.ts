import { CelCostError, CelRuntimeError } from '../language/cel-errors.ts'
import type { CelValue } from '../language/cel-value.ts'

/** One step of a program. */
export interface Step {
  run(frame: Frame): CelValue
  /** The value if it is known before evaluation. */
  readonly constant?: { readonly value: CelValue }
  /**
   * Marks a name with selections: each further selection costs only itself. Branches of `?:` are
   * charged as parts of one such chain.
   */
  readonly chain?: 'plain' | 'choice'
}

/**
 * The content of a local variable: an error may be absorbed later, and a late value is computed
 * when read.
 */
export type Local = { readonly value: CelValue } | { readonly error: CelRuntimeError } | LateLocal

export interface LateLocal {
  readonly late: Step
}

/** The state of one evaluation. */
export class Frame {
  readonly #variable: (name: string) => CelValue
  readonly #known = new Map<string, CelValue>()
  readonly #costLimit: number
  readonly #locals: (Local | undefined)[] = []
  cost = 0

  constructor(variable: (name: string) => CelValue, costLimit: number) {
    this.#variable = variable
    this.#costLimit = costLimit
  }

  pay(amount: number): void {
    this.cost += amount
    if (this.cost > this.#costLimit) throw new CelCostError()
  }

  variable(name: string): CelValue {
    const known = this.#known.get(name)
    if (known !== undefined) return known
    const value = this.#variable(name)
    this.#known.set(name, value)
    return value
  }

  local(slot: number): CelValue {
    const local = this.#locals[slot]
    if (!local) throw new RangeError(`Cannot read local variable ${slot}: it is not set`)
    if ('value' in local) return local.value
    if ('error' in local) throw local.error
    const made = this.attempt(local.late)
    this.#locals[slot] = made
    if ('error' in made) throw made.error
    return made.value
  }

  setLocal(slot: number, local: Local): void {
    this.#locals[slot] = local
  }

  /** Runs a step and returns its error as a value, as && and || need it. */
  attempt(step: Step): { readonly value: CelValue } | { readonly error: CelRuntimeError } {
    try {
      return { value: step.run(this) }
    } catch (error) {
      if (error instanceof CelRuntimeError) return { error }
      throw error
    }
  }
}
