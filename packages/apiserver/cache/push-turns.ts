import type { Clock } from '@skerry/base'
import { apiServerBounds } from '../limits-table.ts'

const { restMsMin, restMsMax, turnMsMax } = apiServerBounds.pushTurns

/**
 * Schedules the writes of watches. All watches with pending events write in one turn of the event
 * loop, after it has read its input, so that simultaneous events are written together. A long turn
 * is followed by an equally long rest, in which requests are answered. Thousands of watches, as when
 * all get a bookmark, take several turns.
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
      if (this.#waiting.push(run) === 1) this.#beginTurn()
    }
  }

  #beginTurn(): void {
    if (this.#turnMs < restMsMin) setImmediate(() => this.#runTurn())
    else this.#clock.setTimer(Math.min(this.#turnMs, restMsMax), () => this.#runTurn())
  }

  #runTurn(): void {
    const tasks = this.#waiting
    this.#waiting = []
    const startMs = this.#clock.monotonicMs()
    let count = 0
    for (const task of tasks) {
      task()
      count += 1
      this.#turnMs = this.#clock.monotonicMs() - startMs
      if (this.#turnMs >= turnMsMax) break
    }
    if (count === tasks.length) return
    // A task may have asked for another turn meanwhile, and so begun it.
    const hasBegun = this.#waiting.length > 0
    this.#waiting = [...tasks.slice(count), ...this.#waiting]
    if (!hasBegun) this.#beginTurn()
  }
}
