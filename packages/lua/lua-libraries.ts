import { libraryFunction, libraryTable, type LuaLibraryFunction } from './lua-arguments.ts'
import { baseFunctions } from './lua-base-library.ts'
import { mathFunctions } from './lua-math-library.ts'
import { LuaRun, type LuaTimer } from './lua-run.ts'
import { stringFunctions } from './lua-string-library.ts'
import { tableFunctions } from './lua-table-library.ts'
import { LuaTable } from './lua-table.ts'
import { elementBytes } from './limits-table.ts'

type Functions = Readonly<Record<string, Readonly<Record<string, LuaLibraryFunction>>>>

/** The libraries of scripts in addition to Lua's own, by name. */
export interface LuaSurroundings {
  /** Libraries that are defined from the start. */
  readonly globals?: Functions
  /** Libraries that `require` loads. */
  readonly modules?: Functions
  /** If omitted, the time of a call is not limited. */
  readonly timer?: LuaTimer
}

/** Creates the libraries once. Each run has its own tables, which its script may change. */
export class LuaLibraries {
  readonly #base: LuaTable
  readonly #tables: ReadonlyMap<string, LuaTable>
  readonly #timer: LuaTimer | undefined

  constructor({ globals = {}, modules = {}, timer }: LuaSurroundings = {}) {
    this.#timer = timer
    const run = new LuaRun(new LuaTable())
    const math = libraryTable(mathFunctions, run)
    math.set('pi', Math.PI, run)
    math.set('huge', Number.POSITIVE_INFINITY, run)
    const others = Object.entries(globals).map(
      ([name, functions]) => [name, libraryTable(functions, run)] as const,
    )
    this.#tables = new Map([
      ['string', libraryTable(stringFunctions, run)],
      ['table', libraryTable(tableFunctions, run)],
      ['math', math],
      ...others,
    ])
    this.#base = libraryTable(baseFunctions, run)
    this.#base.set('_VERSION', 'Lua 5.1', run)
    this.#base.set('require', libraryFunction('require', requireOf(modules, run)), run)
  }

  /** Starts a run before any script has run in it. */
  startRun(): LuaRun {
    const globals = this.#base.copy()
    const run = new LuaRun(globals, this.#timer)
    for (const [name, table] of this.#tables) {
      const own = table.copy()
      globals.set(name, own, run)
      if (name === 'string') run.textMethods = own
    }
    globals.set('_G', globals, run)
    return run
  }
}

function requireOf(modules: Functions, run: LuaRun): LuaLibraryFunction {
  const tables = new Map(
    Object.entries(modules).map(([name, functions]) => [name, libraryTable(functions, run)]),
  )
  return (args) => {
    const name = args.text(0)
    const table = tables.get(name)
    if (table === undefined) throw args.run.error(`module ${name.slice(0, 64)} not found`)
    args.run.spend(elementBytes * table.size)
    return table.copy()
  }
}
