import type { Clock } from '@skerry/base'
import { apiServerBounds } from '../contract/limits-table.ts'

const { restMsMin, restMsMax } = apiServerBounds.pushTurns

/**
 * When watches write: all that have something to say in one turn of the event loop, after it has
 * read what came in meanwhile, so that events that come together are written in one piece. A turn
 * that took long is followed by as long a rest, in which requests are answered.
 */
export class PushTurns {
  readonly #clock: Clock
  #waiting: (() => void)[] = []
  #turnMs = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** What it returns asks for one run of the task in the next turn, however often it is called. */
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
