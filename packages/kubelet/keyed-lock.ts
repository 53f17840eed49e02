import { unlessAborted } from '@skerry/base'

/** Lets one piece of work at a time run for each key, in the order of the calls. */
export class KeyedLock {
  readonly #tails = new Map<string, Promise<void>>()

  async run<T>(key: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key)
    const done = Promise.withResolvers<void>()
    const tail = (before ?? Promise.resolve()).then(() => done.promise)
    this.#tails.set(key, tail)
    try {
      if (before) await unlessAborted(before, signal)
      signal.throwIfAborted()
      return await work()
    } finally {
      done.resolve()
      if (this.#tails.get(key) === tail) this.#tails.delete(key)
    }
  }
}
