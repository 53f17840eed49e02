import { abortReason } from '@skerry/base'

/** Lets a limited number run at a time; the others wait in the order in which they came. */
export class Slots {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(count: number) {
    if (count < 1) throw new RangeError(`Cannot make slots: ${count} is below 1`)
    this.#free = count
  }

  /** Resolves when a slot is free; dispose what it gives to free it again. */
  async take(signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted()
    if (this.#free > 0) this.#free -= 1
    else await this.#wait(signal)
    return { [Symbol.dispose]: () => this.#give() }
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(onTurn), 1)
        reject(abortReason(signal))
      }
      const onTurn = (): void => {
        signal.removeEventListener('abort', onAbort)
        resolve()
      }
      this.#waiting.push(onTurn)
      signal.addEventListener('abort', onAbort, { once: true })
    })
  }

  #give(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#free += 1
  }
}
