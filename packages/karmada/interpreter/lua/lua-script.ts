import { libraryFunction, libraryTable, type LuaLibraryFunction } from './lua-arguments.ts'
import { baseFunctions } from './lua-base-library.ts'
import { compileLua, type LuaProgram } from './lua-compiler.ts'
import { mathFunctions } from './lua-math-library.ts'
import { callValue } from './lua-operators.ts'
import { luaLimits, LuaRun } from './lua-run.ts'
import { stringFunctions } from './lua-string-library.ts'
import { LuaTable } from './lua-table.ts'
import { tableFunctions } from './lua-table-library.ts'
import { LuaError, LuaFunction, LuaLimitError, toBytes, type LuaValue } from './lua-value.ts'

type LuaLibraries = Readonly<Record<string, Readonly<Record<string, LuaLibraryFunction>>>>

/** What a script finds beside Lua's own, by name. */
export interface LuaSurroundings {
  /** There from the start. */
  readonly globals?: LuaLibraries
  /** By `require`. */
  readonly modules?: LuaLibraries
}

/** A script in Lua 5.1, read once and called often. Each call starts from nothing. */
export interface LuaScript {
  /**
   * Calls one of its functions. `use` gets what it gives back, while the call's limits still hold. Throws
   * a LuaError that says what the script did wrong and in which line, and a LuaLimitError when it took
   * more than `luaLimits` allow.
   */
  call<Result>(
    name: string,
    args: (run: LuaRun) => readonly LuaValue[],
    use: (results: readonly LuaValue[], run: LuaRun) => Result,
  ): Result
}

/** Throws a LuaError on a script that is no Lua. */
export function readLuaScript(text: string, surroundings: LuaSurroundings = {}): LuaScript {
  const bytes = toBytes(text)
  if (bytes.length > luaLimits.scriptBytesMax) {
    throw new LuaError(`the script is longer than ${luaLimits.scriptBytesMax} bytes`)
  }
  const program = withinStack(() => compileLua(bytes))
  return {
    call: (name, args, use) =>
      withinStack(() => {
        const run = startRun(program, surroundings)
        const called = run.globals.get(name)
        if (!(called instanceof LuaFunction)) throw new LuaError(`there is no function ${name}`)
        return use(callValue(called, args(run), { run, line: run.line }), run)
      }),
  }
}

function startRun(program: LuaProgram, surroundings: LuaSurroundings): LuaRun {
  const globals = new LuaTable()
  const run = new LuaRun(globals)
  for (const [name, answer] of Object.entries(baseFunctions)) {
    globals.set(name, libraryFunction(name, answer), run)
  }
  run.textMethods = libraryTable(stringFunctions, run)
  globals.set('string', run.textMethods, run)
  globals.set('table', libraryTable(tableFunctions, run), run)
  const math = libraryTable(mathFunctions, run)
  math.set('pi', Math.PI, run)
  math.set('huge', Number.POSITIVE_INFINITY, run)
  globals.set('math', math, run)
  for (const [name, functions] of Object.entries(surroundings.globals ?? {})) {
    globals.set(name, libraryTable(functions, run), run)
  }
  globals.set('_G', globals, run)
  globals.set('_VERSION', 'Lua 5.1', run)
  globals.set('require', libraryFunction('require', requireOf(surroundings.modules ?? {})), run)
  program(run)
  return run
}

function requireOf(modules: LuaLibraries): LuaLibraryFunction {
  return (args) => {
    const name = args.text(0)
    const module = Object.hasOwn(modules, name) ? modules[name] : undefined
    if (module === undefined) throw args.run.error(`module ${name} not found`)
    return libraryTable(module, args.run)
  }
}

/** Deep recursion of a script is one of its limits, wherever the engine's own stack ends. */
function withinStack<Result>(act: () => Result): Result {
  try {
    return act()
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new LuaLimitError('it was nested too deep', { cause: error })
  }
}
