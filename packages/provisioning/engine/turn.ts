/** Lets steps of one run act one after another, in the order in which they ask. */
export class Turn {
  #last: Promise<void> = Promise.resolve()

  /** Acts when everybody who asked before has ended. These end with the run, so that nobody waits longer than that. */
  async take<T>(act: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const before = this.#last
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#last = promise
    try {
      await before
      signal.throwIfAborted()
      return await act()
    } finally {
      resolve()
    }
  }
}
