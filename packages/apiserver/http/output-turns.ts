import type { Clock } from '@skerry/base'
import { apiServerBounds } from '../limits-table.ts'

export interface OutputTurnsDeps {
  readonly clock: Pick<Clock, 'monotonicMs'>
  /** Calls back in the next pass of the event loop, after requests were read (setImmediate). */
  readonly nextPass: (call: () => void) => void
}

const { passBytesMax, passMsMax } = apiServerBounds.outputTurns

/**
 * Decides who writes next when many readers take more at once. The sockets of 200 readers that
 * never read drain together until the kernel's buffers are full, a gigabyte in all. Written in one
 * pass of the event loop, that would block every other request. Users take turns, and requests are
 * served between passes.
 */
export class OutputTurns {
  readonly #deps: OutputTurnsDeps
  /** Writers by their user's name, in the order of their turns. */
  readonly #waiting = new Map<string, (() => number)[]>()
  #isPassDue = false
  #passBytes = 0
  #passStartMs = 0

  constructor(deps: OutputTurnsDeps) {
    this.#deps = deps
  }

  /** Runs `write` now if this pass has room. It returns the number of bytes it may write. */
  schedule(user: string, write: () => number): void {
    if (this.#waiting.size === 0 && this.#hasRoom()) this.#run(write)
    else {
      const tasks = this.#waiting.get(user)
      if (tasks) tasks.push(write)
      else this.#waiting.set(user, [write])
    }
    this.#requestPass()
  }

  #requestPass(): void {
    if (this.#isPassDue) return
    this.#isPassDue = true
    this.#deps.nextPass(() => this.#pass())
  }

  #pass(): void {
    this.#isPassDue = false
    this.#passBytes = 0
    while (this.#waiting.size > 0 && this.#hasRoom()) {
      const write = this.#next()
      if (write) this.#run(write)
    }
    if (this.#passBytes > 0) this.#requestPass()
  }

  /**
   * Returns the first task of the user whose turn it is; that user's other tasks wait for the other
   * users.
   */
  #next(): (() => number) | undefined {
    for (const [user, tasks] of this.#waiting) {
      const write = tasks.shift()
      this.#waiting.delete(user)
      if (tasks.length > 0) this.#waiting.set(user, tasks)
      return write
    }
    return undefined
  }

  #run(write: () => number): void {
    if (this.#passBytes === 0) this.#passStartMs = this.#deps.clock.monotonicMs()
    this.#passBytes += Math.max(1, write())
  }

  #hasRoom(): boolean {
    if (this.#passBytes === 0) return true
    const tookMs = this.#deps.clock.monotonicMs() - this.#passStartMs
    return this.#passBytes < passBytesMax && tookMs < passMsMax
  }
}
