import { LuaError, LuaLimitError } from './lua-value.ts'
import type { LuaTable } from './lua-table.ts'

/** What one call of a script may use. */
export const luaLimits = Object.freeze({
  /** Statements, calls, and elements that library functions touch: at most some tens of milliseconds. */
  stepsMax: 1_000_000,
  /** All texts and tables that are made, also those that are thrown away. */
  bytesMax: 32 * 1024 * 1024,
  callDepthMax: 200,
  scriptBytesMax: 256 * 1024,
  /** Of tables within tables in what a script is given and gives back. */
  valueDepthMax: 100,
})

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

  constructor(globals: LuaTable) {
    this.globals = globals
  }

  get steps(): number {
    return this.#steps
  }

  step(count = 1): void {
    this.#steps += count
    if (this.#steps > luaLimits.stepsMax) {
      throw new LuaLimitError(`it took more than ${luaLimits.stepsMax} steps`)
    }
  }

  /** Before they are made. */
  spend(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes > luaLimits.bytesMax) {
      throw new LuaLimitError(`it made values of more than ${luaLimits.bytesMax} bytes`)
    }
  }

  /** Around each call. */
  enter(): void {
    this.step()
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

  returnTo(depth: number): void {
    this.#depth = depth
  }
}
