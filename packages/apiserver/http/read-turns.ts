export interface ReadTurnsDeps {
  /** The bytes that are read in one pass of the event loop. */
  readonly bytesPerPass: number
  /** Calls back in the next pass of the event loop, after sockets were read (setImmediate). */
  readonly nextPass: (call: () => void) => void
}

/**
 * Lets large bodies be read in turns, a bounded number of bytes in each pass of the event loop. If all were read as
 * they arrive, hundreds of them would make each pass long, and a small request needs several passes.
 */
export class ReadTurns {
  readonly #deps: ReadTurnsDeps
  readonly #waiting: { readonly bytes: number; readonly go: () => void }[] = []
  #left: number
  #isDue = false

  constructor(deps: ReadTurnsDeps) {
    this.#deps = deps
    this.#left = deps.bytesPerPass
  }

  /** Counts bytes that were read. Resolves when more may be read; undefined if that is at once. */
  take(bytes: number): Promise<void> | undefined {
    this.#look()
    if (this.#left > 0 && this.#waiting.length === 0) {
      this.#left -= bytes
      return undefined
    }
    return new Promise((resolve) => this.#waiting.push({ bytes, go: resolve }))
  }

  #look(): void {
    if (this.#isDue) return
    this.#isDue = true
    this.#deps.nextPass(() => {
      this.#isDue = false
      this.#left = this.#deps.bytesPerPass
      while (this.#left > 0) {
        const next = this.#waiting.shift()
        if (next === undefined) return
        this.#left -= next.bytes
        next.go()
      }
      this.#look()
    })
  }
}
