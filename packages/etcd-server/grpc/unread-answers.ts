import { etcdServerBounds } from '../limits-table.ts'
import type { ByteBudget } from './message-splitter.ts'

const { streamUnreadBytesMax } = etcdServerBounds.grpcServer

/** Counts the answers of one call that its reader has not taken, within the bound that all calls share. */
export class UnreadAnswers {
  readonly #budget: ByteBudget
  #bytes = 0
  #onDrained: (() => void)[] = []

  constructor(budget: ByteBudget) {
    this.#budget = budget
  }

  get isFull(): boolean {
    return this.#bytes >= streamUnreadBytesMax
  }

  /** Returns false if all calls together leave no room. */
  hasRoomFor(bytes: number): boolean {
    const { used, max } = this.#budget
    return used === 0 || used + bytes <= max
  }

  add(bytes: number): void {
    this.#budget.used += bytes
    this.#bytes += bytes
  }

  /** Bytes that `clear` has given back already are not given back twice. */
  remove(asked: number): void {
    const bytes = Math.min(asked, this.#bytes)
    this.#budget.used -= bytes
    this.#bytes -= bytes
    if (this.#onDrained.length === 0 || this.#bytes > streamUnreadBytesMax / 2) return
    const waiting = this.#onDrained
    this.#onDrained = []
    for (const resume of waiting) resume()
  }

  clear(): void {
    this.remove(this.#bytes)
  }

  /** Resolves when the reader has taken half of what it may leave. Rejects with the signal's reason. */
  whenDrained(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      if (!this.isFull) return resolve()
      const onAbort = (): void => reject(signal.reason)
      signal.addEventListener('abort', onAbort, { once: true })
      this.#onDrained.push(() => {
        signal.removeEventListener('abort', onAbort)
        resolve()
      })
    })
  }
}
