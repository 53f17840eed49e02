import { abortReason } from '@skerry/base'

/** Lets a limited number pass at a time; the others wait in the order in which they came. */
export class RoundGate {
  readonly #atOnceMax: number
  readonly #waiting = new Set<() => void>()
  #inside = 0

  constructor(atOnceMax: number) {
    this.#atOnceMax = atOnceMax
  }

  /** Runs the work when it is its turn. Rejects with the signal's reason if that aborts first. */
  async pass<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#enter(signal)
    try {
      return await work()
    } finally {
      this.#leave()
    }
  }

  async #enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.#inside < this.#atOnceMax) {
      this.#inside += 1
      return
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const onAbort = (): void => {
      this.#waiting.delete(resolve)
      reject(abortReason(signal))
    }
    this.#waiting.add(resolve)
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      await promise
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  /** The next one takes over the place. */
  #leave(): void {
    const [next] = this.#waiting
    if (next === undefined) {
      this.#inside -= 1
      return
    }
    this.#waiting.delete(next)
    next()
  }
}
