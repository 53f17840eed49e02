import { StatusError } from '@skerry/api'

/** Bounds how many of something each user has open at once. */
export class UserPlaces {
  readonly #name: string
  readonly #perUserMax: number
  readonly #held = new Map<string, number>()

  constructor({ name, perUserMax }: { readonly name: string; readonly perUserMax: number }) {
    this.#name = name
    this.#perUserMax = perUserMax
  }

  /** Takes a place until it is disposed of. Throws TooManyRequests. */
  take(user: string): Disposable {
    const held = this.#held.get(user) ?? 0
    if (held >= this.#perUserMax) {
      const text = `Cannot open another one: "${user}" has ${held} ${this.#name} open, which is the limit; close some`
      throw new StatusError('TooManyRequests', text, { details: { retryAfterSeconds: 1 } })
    }
    this.#held.set(user, held + 1)
    let isHeld = true
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return
        isHeld = false
        const left = (this.#held.get(user) ?? 1) - 1
        if (left > 0) this.#held.set(user, left)
        else this.#held.delete(user)
      },
    }
  }
}
