import type { Clock } from '@skerry/base'
import { apiServerBounds } from '../limits-table.ts'

export interface WorkTurnsDeps {
  readonly clock: Pick<Clock, 'monotonicMs' | 'setTimer'>
  /** Calls back in the next pass of the event loop, after requests were read (setImmediate). */
  readonly nextPass: (call: () => void) => void
}

const { restMsMax } = apiServerBounds.workTurns

/**
 * Runs the steps of large requests one at a time, and rests after each for as long as it took:
 * however many large requests there are, small ones wait for one step, and get half of the time.
 */
export class WorkTurns {
  readonly #deps: WorkTurnsDeps
  readonly #waiting: (() => void)[] = []
  #isDue = false
  #freeAtMs = 0
  /** When the running step gave its turn back; earlier than its start if it has not yet. */
  #endMs = 0

  constructor(deps: WorkTurnsDeps) {
    this.#deps = deps
  }

  /** Ends the caller's step, if it has one, and resolves when its next may begin. */
  pause(): Promise<void> {
    this.#endMs = this.#deps.clock.monotonicMs()
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.#look()
    })
  }

  #look(): void {
    if (this.#isDue || this.#waiting.length === 0) return
    this.#isDue = true
    const { clock, nextPass } = this.#deps
    const restMs = this.#freeAtMs - clock.monotonicMs()
    if (restMs > 0) clock.setTimer(restMs, () => this.#run())
    else nextPass(() => this.#run())
  }

  #run(): void {
    const { clock, nextPass } = this.#deps
    const startMs = clock.monotonicMs()
    this.#waiting.shift()?.()
    // The step runs when this call returns, as far as it gets without waiting.
    nextPass(() => {
      const nowMs = clock.monotonicMs()
      const tookMs = (this.#endMs > startMs ? this.#endMs : nowMs) - startMs
      this.#freeAtMs = nowMs + Math.min(tookMs, restMsMax)
      this.#isDue = false
      this.#look()
    })
  }
}
