import { compileLua } from './lua-compiler.ts'
import { LuaLibraries } from './lua-libraries.ts'
import { callValue } from './lua-operators.ts'
import { type LuaRun } from './lua-run.ts'
import { LuaError, LuaFunction, LuaLimitError, toBytes, type LuaValue } from './lua-value.ts'
import { luaLimits } from './limits-table.ts'

/** A Lua 5.1 script, parsed once and called often. Each call starts with fresh state. */
export interface LuaScript {
  /**
   * Calls one of the script's functions. `use` gets its results while the call's limits still
   * apply. Throws a LuaError that names the script's error and its line, and a LuaLimitError if the
   * call exceeded `luaLimits`. `run` is one that was started and not used; if omitted, a new one.
   */
  call<Result>(
    name: string,
    args: (run: LuaRun) => readonly LuaValue[],
    use: (results: readonly LuaValue[], run: LuaRun) => Result,
    run?: LuaRun,
  ): Result
}

/** Throws a LuaError if the script is not valid Lua. */
export function readLuaScript(text: string, libraries = new LuaLibraries()): LuaScript {
  const bytes = toBytes(text)
  if (bytes.length > luaLimits.scriptBytesMax) {
    throw new LuaError(`the script is longer than ${luaLimits.scriptBytesMax} bytes`)
  }
  const program = withinStack(() => compileLua(bytes))
  return {
    call: (name, args, use, run = libraries.startRun()) =>
      withinStack(() => {
        program(run)
        const called = run.globals.get(name)
        if (!(called instanceof LuaFunction)) throw new LuaError(`there is no function ${name}`)
        return use(callValue(called, args(run), { run, line: run.line }), run)
      }),
  }
}

/** Deep recursion counts as one of the script's limits, wherever the engine's own stack ends. */
function withinStack<Result>(act: () => Result): Result {
  try {
    return act()
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new LuaLimitError('it was nested too deeply', { cause: error })
  }
}
