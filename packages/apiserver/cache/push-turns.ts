import type { Clock } from '@skerry/base'
import { apiServerBounds } from '../limits-table.ts'

const { restMsMin, restMsMax } = apiServerBounds.pushTurns

/**
 * Schedules the writes of watches. All watches with pending events write in one turn of the event
 * loop, after it has read its input, so that simultaneous events are written together. A long turn
 * is followed by an equally long rest, in which requests are answered.
 */
export class PushTurns {
  readonly #clock: Clock
  #waiting: (() => void)[] = []
  #turnMs = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Returns a function that requests one run of the task in the next turn, however often it is called. */
  schedule(task: () => void): () => void {
    let isWaiting = false
    const run = (): void => {
      isWaiting = false
      task()
    }
    return () => {
      if (isWaiting) return
      isWaiting = true
      if (this.#waiting.push(run) > 1) return
      if (this.#turnMs < restMsMin) setImmediate(() => this.#runTurn())
      else this.#clock.setTimer(Math.min(this.#turnMs, restMsMax), () => this.#runTurn())
    }
  }

  #runTurn(): void {
    const tasks = this.#waiting
    this.#waiting = []
    const startMs = this.#clock.monotonicMs()
    for (const task of tasks) task()
    this.#turnMs = this.#clock.monotonicMs() - startMs
  }
}
