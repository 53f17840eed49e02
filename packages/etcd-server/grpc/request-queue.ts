/**
 * Requests of one stream in order, for one reader. It asks its source to pause while `max` of them wait.
 */
export class RequestQueue<T> {
  readonly #waiting: T[] = []
  readonly #max: number
  readonly #pause: (isPaused: boolean) => void
  #wake: (() => void) | undefined
  #failure: { readonly reason: unknown } | undefined
  #isEnded = false
  #isPaused = false

  constructor(max: number, pause: (isPaused: boolean) => void) {
    this.#max = max
    this.#pause = pause
  }

  push(item: T): void {
    this.#waiting.push(item)
    if (this.#waiting.length >= this.#max && !this.#isPaused) {
      this.#isPaused = true
      this.#pause(true)
    }
    this.#wake?.()
  }

  end(): void {
    this.#isEnded = true
    this.#wake?.()
  }

  fail(reason: unknown): void {
    this.#failure ??= { reason }
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void> {
    for (;;) {
      if (this.#failure) throw this.#failure.reason
      const item = this.#waiting.shift()
      if (item !== undefined) {
        yield item
        continue
      }
      if (this.#isEnded) return
      if (this.#isPaused) {
        this.#isPaused = false
        this.#pause(false)
      }
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }
}
