import { randomInt } from 'node:crypto'
import type { Clock } from '@skerry/base'
import { etcdServerBounds } from '../limits-table.ts'

const { lifeMs, tokensMax } = etcdServerBounds.tokenTable

const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'
const lettersOfToken = 16

interface Token {
  readonly user: string
  /** Monotonic time, in milliseconds. */
  readonly endMs: number
}

/**
 * The tokens of users who have logged in: etcd's simple ones, which end five minutes after their last use. They are in
 * memory alone, so clients log in again after a restart, as they do with etcd.
 */
export class TokenTable {
  readonly #clock: Clock
  /** The one that was used least recently comes first. */
  readonly #tokens = new Map<string, Token>()
  #made = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Returns a new token. The oldest one ends if there are too many. */
  make(user: string): string {
    this.#made += 1
    const secret = Array.from({ length: lettersOfToken }, () => letters[randomInt(letters.length)])
    const token = `${secret.join('')}.${this.#made}`
    this.#dropEnded()
    this.#set(token, user)
    return token
  }

  /** Returns the user of a token and lets it live on; undefined for an unknown or ended one. */
  userOf(token: string): string | undefined {
    const known = this.#tokens.get(token)
    if (known === undefined) return undefined
    this.#tokens.delete(token)
    if (known.endMs <= this.#clock.monotonicMs()) return undefined
    this.#set(token, known.user)
    return known.user
  }

  /** Ends the tokens of a user, or all of them. */
  end(user?: string): void {
    for (const [token, known] of this.#tokens) {
      if (user === undefined || known.user === user) this.#tokens.delete(token)
    }
  }

  #set(token: string, user: string): void {
    this.#tokens.set(token, { user, endMs: this.#clock.monotonicMs() + lifeMs })
  }

  #dropEnded(): void {
    const nowMs = this.#clock.monotonicMs()
    for (const [token, { endMs }] of this.#tokens) {
      if (endMs > nowMs && this.#tokens.size < tokensMax) return
      this.#tokens.delete(token)
    }
  }
}
