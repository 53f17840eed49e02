import type { LuaRun } from './lua-run.ts'
import { LuaError, type LuaValue } from './lua-value.ts'

/** A local variable, which inner functions may share. */
export interface LuaLocal {
  value: LuaValue
}

/** One call of one function. */
export class LuaFrame {
  readonly run: LuaRun
  readonly locals: LuaLocal[] = []
  readonly captured: readonly LuaLocal[]
  readonly varargs: readonly LuaValue[]

  constructor(run: LuaRun, captured: readonly LuaLocal[], varargs: readonly LuaValue[]) {
    this.run = run
    this.captured = captured
    this.varargs = varargs
  }

  /** Each declaration creates a new local, so that closures in a loop do not share variables. */
  declare(slot: number, value: LuaValue): void {
    this.locals[slot] = { value }
  }

  local(slot: number): LuaLocal {
    return expected(this.locals[slot])
  }

  capture(index: number): LuaLocal {
    return expected(this.captured[index])
  }
}

function expected(local: LuaLocal | undefined): LuaLocal {
  // The parser resolves a name only to an earlier declaration.
  if (local === undefined) throw new LuaError('a local is used before its declaration')
  return local
}

export function errorAt(line: number, what: string): LuaError {
  return new LuaError(`line ${line}: ${what}`)
}
