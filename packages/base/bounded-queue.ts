/** Thrown by push if the queue already holds `itemsMax`. The caller decides what to drop. */
export class QueueFullError extends Error {
  override name = 'QueueFullError'
}

/** A first-in, first-out queue with one reader that never grows past its limit. */
export class BoundedQueue<T> implements AsyncIterable<T> {
  #items: T[] = []
  #wake: (() => void) | undefined
  #isClosed = false
  readonly #itemsMax: number

  constructor(itemsMax: number) {
    if (itemsMax < 1) throw new RangeError(`Cannot create queue: itemsMax ${itemsMax} is below 1`)
    this.#itemsMax = itemsMax
  }

  get length(): number {
    return this.#items.length
  }

  push(item: T): void {
    if (this.#isClosed) return
    if (this.#items.length >= this.#itemsMax) {
      throw new QueueFullError(`Cannot queue item: ${this.#itemsMax} items are waiting`)
    }
    this.#items.push(item)
    this.#wake?.()
  }

  /** Ends the iteration once queued items are delivered. */
  close(): void {
    this.#isClosed = true
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for (;;) {
      const batch = this.#items
      this.#items = []
      yield* batch
      if (this.#items.length > 0) continue
      if (this.#isClosed) return
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      this.#wake = undefined
    }
  }
}
