import type { LuaRun } from './lua-run.ts'
import { LuaTable } from './lua-table.ts'
import {
  LuaFunction,
  numberOf,
  numberText,
  typeOf,
  type LuaBody,
  type LuaError,
  type LuaValue,
} from './lua-value.ts'

/** The arguments of a library function. Each accessor throws a LuaError if the value has the wrong type. */
export class LuaArguments {
  readonly run: LuaRun
  readonly values: readonly LuaValue[]
  readonly #name: string

  constructor(name: string, values: readonly LuaValue[], run: LuaRun) {
    this.#name = name
    this.values = values
    this.run = run
  }

  get count(): number {
    return this.values.length
  }

  any(index: number): LuaValue {
    if (index >= this.values.length) throw this.error(index, 'value expected')
    return this.values[index]
  }

  table(index: number): LuaTable {
    const value = this.values[index]
    if (value instanceof LuaTable) return value
    throw this.#expected(index, 'table')
  }

  function(index: number): LuaFunction {
    const value = this.values[index]
    if (value instanceof LuaFunction) return value
    throw this.#expected(index, 'function')
  }

  /** Accepts numbers as texts. */
  text(index: number): string {
    const value = this.values[index]
    if (typeof value === 'string') return value
    if (typeof value === 'number') return numberText(value)
    throw this.#expected(index, 'string')
  }

  number(index: number): number {
    const value = this.values[index]
    if (typeof value === 'string') this.run.match(value.length)
    const number = numberOf(value)
    if (number !== undefined) return number
    throw this.#expected(index, 'number')
  }

  /** Truncates to a whole number, as for positions. */
  whole(index: number, otherwise?: number): number {
    if (otherwise !== undefined && this.values[index] === undefined) return otherwise
    const whole = Math.trunc(this.number(index))
    return Number.isFinite(whole) ? whole : 0
  }

  error(index: number, what: string): LuaError {
    return this.run.error(`bad argument #${index + 1} to ${this.#name} (${what})`)
  }

  #expected(index: number, type: string): LuaError {
    return this.error(index, `${type} expected, got ${typeOf(this.values[index])}`)
  }
}

export type LuaLibraryFunction = (args: LuaArguments) => LuaValue | readonly LuaValue[]

export function libraryFunction(name: string, answer: LuaLibraryFunction): LuaFunction {
  const body: LuaBody = (values, run) => {
    const found = answer(new LuaArguments(name, values, run))
    return isList(found) ? found : [found]
  }
  return new LuaFunction(name, body)
}

function isList(value: LuaValue | readonly LuaValue[]): value is readonly LuaValue[] {
  return Array.isArray(value)
}

/** Creates a table of functions. */
export function libraryTable(
  functions: Readonly<Record<string, LuaLibraryFunction>>,
  run: LuaRun,
): LuaTable {
  const table = new LuaTable()
  for (const [name, answer] of Object.entries(functions)) {
    table.set(name, libraryFunction(name, answer), run)
  }
  return table
}
