import type { Clock } from '@skerry/base'
import type { LuaTable } from './lua-table.ts'
import { LuaError, LuaLimitError } from './lua-value.ts'
import { luaBounds, luaLimits } from './limits-table.ts'

/**
 * The work of a library function in the engine that counts as one step: the number of characters
 * that are only skipped or copied, or that a pattern of the engine examines.
 */
const charsCopied = 64
const charsMatched = 8
/** The cost of an error that a script catches, because the engine records where it was raised. */
const errorSteps = 50
/** The additional cost for each call that the error leaves. */
const leftCallSteps = 8
const { stepsPerLook, callsPerLook } = luaBounds.luaRun
/** The number of bytes that count as a step where both are added up. */
const bytesPerStep = 32

export type LuaTimer = Pick<Clock, 'monotonicMs'>

/** One call of a script: its used resources, and the state that its functions share. */
export class LuaRun {
  readonly globals: LuaTable
  /** The methods of texts; undefined until the libraries are loaded. */
  textMethods: LuaTable | undefined
  #steps = 0
  #bytes = 0
  #depth = 0
  /** The script's line of the newest call. */
  line = 0
  readonly #timer: LuaTimer | undefined
  readonly #startMs: number
  #nextLook: number = stepsPerLook
  #calls = 0

  /** Without a timer the time is not limited. */
  constructor(globals: LuaTable, timer?: LuaTimer) {
    this.globals = globals
    this.#timer = timer
    this.#startMs = timer?.monotonicMs() ?? 0
  }

  get steps(): number {
    return this.#steps
  }

  /** Steps and bytes, in steps. It grows with the work done. */
  get used(): number {
    return this.#steps + Math.ceil(this.#bytes / bytesPerStep)
  }

  /** Call this before the steps are done. */
  step(count = 1): void {
    const steps = this.#steps + count
    if (steps > luaLimits.stepsMax) {
      throw new LuaLimitError(`it took more than ${luaLimits.stepsMax} steps`)
    }
    this.#steps = steps
    if (this.#steps >= this.#nextLook) this.#look()
  }

  #look(): void {
    this.#nextLook = this.#steps + stepsPerLook
    if (this.#timer === undefined) return
    if (this.#timer.monotonicMs() - this.#startMs > luaLimits.timeMaxMs) {
      throw new LuaLimitError(`it took more than ${luaLimits.timeMaxMs} ms`)
    }
  }

  /** Call this before characters are copied or compared. */
  copy(length: number): void {
    this.step(Math.ceil(length / charsCopied))
  }

  /** Call this before a pattern of the engine reads characters. */
  match(length: number): void {
    this.step(Math.ceil(length / charsMatched))
  }

  /** Call this before the bytes are allocated. */
  spend(bytes: number): void {
    const made = this.#bytes + bytes
    if (made > luaLimits.bytesMax) {
      throw new LuaLimitError(`it made values of more than ${luaLimits.bytesMax} bytes`)
    }
    this.#bytes = made
  }

  /** Call this at the start of each call. */
  enter(): void {
    this.step()
    this.#calls += 1
    if (this.#calls % callsPerLook === 0) this.#look()
    this.#depth += 1
    if (this.#depth > luaLimits.callDepthMax) {
      throw new LuaLimitError(`its calls were nested more than ${luaLimits.callDepthMax} deep`)
    }
  }

  leave(): void {
    this.#depth -= 1
  }

  /** Creates the error of a library function. */
  error(what: string): LuaError {
    return new LuaError(`line ${this.line}: ${what}`)
  }

  /** The call depth, for `pcall`, which continues after calls were aborted. */
  get depth(): number {
    return this.#depth
  }

  /** Restores the depth after an error that the script has caught. */
  returnTo(depth: number): void {
    const left = this.#depth - depth
    this.#depth = depth
    this.step(errorSteps + leftCallSteps * left)
  }
}
