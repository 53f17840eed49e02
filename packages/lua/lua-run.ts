import type { Clock } from '@skerry/base'
import type { LuaTable } from './lua-table.ts'
import { LuaError, LuaLimitError } from './lua-value.ts'

/** What one call of a script may use. */
export const luaLimits = Object.freeze({
  /** Statements, calls, and what library functions touch: at most some tens of milliseconds. */
  stepsMax: 1_000_000,
  /** All texts and tables that are made, also those that are thrown away. */
  bytesMax: 32 * 1024 * 1024,
  /** Karmada's. Stops what costs more than its steps say; a machine that is busy takes some of it. */
  timeMaxMs: 1_000,
  callDepthMax: 200,
  scriptBytesMax: 256 * 1024,
  /** Of tables within tables in what a script is given and gives back. */
  valueDepthMax: 100,
})

/**
 * One step stands for this much work of a library function in the engine: so many characters that
 * are only passed over or copied, or so many that are each looked at by a pattern of the engine.
 */
const charsCopied = 64
const charsMatched = 8
/** The cost of an error that a script catches: the engine records where it was raised. */
const errorSteps = 50
/** And what it costs for each call that it leaves. */
const leftCallSteps = 8
/** The clock is asked after so many steps, and after so many calls. */
const stepsPerLook = 2_000
const callsPerLook = 16
/** Bytes that count as a step where both are added up. */
const bytesPerStep = 32

export type LuaTimer = Pick<Clock, 'monotonicMs'>

/** One call of a script: what it has used, and what its functions share. */
export class LuaRun {
  readonly globals: LuaTable
  /** Where texts find their methods; undefined until the libraries are there. */
  textMethods: LuaTable | undefined
  #steps = 0
  #bytes = 0
  #depth = 0
  /** Of the script, where the newest call stands. */
  line = 0
  readonly #timer: LuaTimer | undefined
  readonly #startMs: number
  #nextLook = stepsPerLook
  #calls = 0

  /** Without a timer its time is not limited. */
  constructor(globals: LuaTable, timer?: LuaTimer) {
    this.globals = globals
    this.#timer = timer
    this.#startMs = timer?.monotonicMs() ?? 0
  }

  get steps(): number {
    return this.#steps
  }

  /** Steps and bytes, in steps: grows with the work that was done. */
  get used(): number {
    return this.#steps + Math.ceil(this.#bytes / bytesPerStep)
  }

  /** Before they are done. */
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

  /** Before so many characters are copied or compared. */
  copy(length: number): void {
    this.step(Math.ceil(length / charsCopied))
  }

  /** Before a pattern of the engine goes over so many characters. */
  match(length: number): void {
    this.step(Math.ceil(length / charsMatched))
  }

  /** Before they are made. */
  spend(bytes: number): void {
    const made = this.#bytes + bytes
    if (made > luaLimits.bytesMax) {
      throw new LuaLimitError(`it made values of more than ${luaLimits.bytesMax} bytes`)
    }
    this.#bytes = made
  }

  /** Around each call. */
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

  /** What a library function raises. */
  error(what: string): LuaError {
    return new LuaError(`line ${this.line}: ${what}`)
  }

  /** For `pcall`, which goes on where calls were cut short. */
  get depth(): number {
    return this.#depth
  }

  /** After an error that the script has caught. */
  returnTo(depth: number): void {
    const left = this.#depth - depth
    this.#depth = depth
    this.step(errorSteps + leftCallSteps * left)
  }
}
