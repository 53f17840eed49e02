/** Limits the bytes in this process that wait for readers, which may never read them. */
export interface UnreadLimits {
  readonly unreadBytesMax: number
  readonly unreadBytesPerUserMax: number
}

/** The bytes that one answer holds. */
export interface UnreadShare extends Disposable {
  /** May end this answer, or another one, before it returns. */
  add(bytes: number): void
  remove(bytes: number): void
}

interface Held {
  bytes: number
  /** The position, in the order of all answers, at which it last began to hold bytes. */
  since: number
  readonly end: () => void
}

/**
 * Counts what all answers hold for their readers, and ends answers if it becomes too much: of the
 * user who holds the most, the one whose reader has been away the longest. Other users' readers are
 * not affected.
 */
export class UnreadBytes {
  readonly #limits: UnreadLimits
  readonly #users = new Map<string, { bytes: number; readonly shares: Set<Held> }>()
  #bytes = 0
  #now = 0

  constructor(limits: UnreadLimits) {
    this.#limits = limits
  }

  get bytes(): number {
    return this.#bytes
  }

  bytesOf(user: string): number {
    return this.#users.get(user)?.bytes ?? 0
  }

  /** `end` must release what the answer holds. */
  open(user: string, end: () => void): UnreadShare {
    const held: Held = { bytes: 0, since: 0, end }
    let isOpen = true
    return {
      add: (bytes) => {
        if (isOpen && bytes > 0) this.#add(user, held, bytes)
      },
      remove: (bytes) => this.#remove(user, held, Math.min(bytes, held.bytes)),
      [Symbol.dispose]: () => {
        isOpen = false
        this.#remove(user, held, held.bytes)
      },
    }
  }

  #add(user: string, held: Held, bytes: number): void {
    const of = this.#users.get(user) ?? { bytes: 0, shares: new Set<Held>() }
    this.#users.set(user, of)
    if (held.bytes === 0) held.since = this.#now++
    of.shares.add(held)
    held.bytes += bytes
    of.bytes += bytes
    this.#bytes += bytes
    const { unreadBytesMax, unreadBytesPerUserMax } = this.#limits
    while (of.bytes > unreadBytesPerUserMax && this.#endOldest(user)) continue
    while (this.#bytes > unreadBytesMax && this.#endOldest(this.#greediest())) continue
  }

  #remove(user: string, held: Held, bytes: number): void {
    if (bytes <= 0) return
    held.bytes -= bytes
    this.#bytes -= bytes
    const of = this.#users.get(user)
    if (!of) return
    of.bytes -= bytes
    if (held.bytes > 0) return
    of.shares.delete(held)
    if (of.shares.size === 0) this.#users.delete(user)
  }

  #greediest(): string {
    let [most, bytesMax] = ['', -1]
    for (const [user, { bytes }] of this.#users) {
      if (bytes > bytesMax) [most, bytesMax] = [user, bytes]
    }
    return most
  }

  /** Returns false if there is none. */
  #endOldest(user: string): boolean {
    let oldest: Held | undefined
    for (const held of this.#users.get(user)?.shares ?? []) {
      if (!oldest || held.since < oldest.since) oldest = held
    }
    if (!oldest) return false
    const { end, bytes } = oldest
    this.#remove(user, oldest, bytes)
    end()
    return true
  }
}
