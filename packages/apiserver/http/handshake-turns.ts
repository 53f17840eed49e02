import type { Clock, Logger, Timer } from '@skerry/base'
import type { ApiServerLimits } from '../limits-table.ts'

export type HandshakeLimits = Pick<
  ApiServerLimits,
  | 'handshakesMax'
  | 'handshakesAtOnceMax'
  | 'quickHandshakeMs'
  | 'waitingHandshakesMax'
  | 'handshakeWaitMs'
>

/** A connection in which TLS has not begun. */
export interface Arrival {
  /** Where it comes from. */
  readonly address: string
  /** Its turn has come. */
  begin(): void
  /** Closes it: it does not get its turn. */
  drop(): void
}

export interface Turn {
  /** The handshake is over, or the connection gone; calling it again does nothing. */
  end(): void
}

/** One pass of the event loop accepts one connection: for so many in a row nothing begins, for so long at most. */
const acceptingPassesMax = 32
const acceptingMsMax = 20

/** After a pass that took long, more begin: one for so many milliseconds, a quarter of the time, and so many at most. */
const msForEach = 8
const inLongPassMax = 16

export interface HandshakeTurnsDeps {
  readonly clock: Pick<Clock, 'monotonicMs' | 'setTimer'>
  readonly log: Logger
  /** Calls it in the next pass of the event loop, once what has arrived was accepted; setImmediate. */
  readonly nextPass: (call: () => void) => void
}

/**
 * Who may begin a TLS handshake when more come than the processor can greet. All at once would all end at
 * once, after their clients have given up; one after another, a user would wait behind thousands of agents. So
 * what waits for the port is accepted first, which costs little; a few begin in one pass of the event loop, more
 * where passes are long; a bounded number is in progress; and the newest goes first: whoever comes while thousands
 * wait is greeted next. Who waits in vain is told so by a closed connection, and comes again as a new one. One address
 * has at most half of the places, so that a flood from there leaves the other half.
 */
export class HandshakeTurns {
  readonly #limits: HandshakeLimits
  readonly #deps: HandshakeTurnsDeps
  /** By address; slow ones are not in it. */
  readonly #inProgress = new Map<string, number>()
  #count = 0
  /** The oldest first. */
  readonly #waiting: Waiting[] = []
  #oldest: Timer | undefined
  /** When the next pass was asked for; undefined: none is due. */
  #askedMs: number | undefined
  #hasArrived = false
  #acceptingPasses = 0
  #acceptingSinceMs = 0
  /** Since last nobody waited. */
  #dropped = 0

  constructor(limits: HandshakeLimits, deps: HandshakeTurnsDeps) {
    this.#limits = limits
    this.#deps = deps
  }

  arrive(arrival: Arrival): Turn {
    const sinceMs = this.#deps.clock.monotonicMs()
    const waiting: Waiting = { arrival, sinceMs, end: () => undefined }
    waiting.end = () => this.#leave(waiting)
    this.#waiting.push(waiting)
    if (this.#waiting.length > this.#limits.waitingHandshakesMax) this.#dropOldest()
    this.#hasArrived = true
    this.#makePass()
    this.#watchOldest()
    return { end: () => waiting.end() }
  }

  #makePass(): void {
    if (this.#askedMs !== undefined) return
    this.#askedMs = this.#deps.clock.monotonicMs()
    this.#deps.nextPass(() => this.#pass())
  }

  #pass(): void {
    const nowMs = this.#deps.clock.monotonicMs()
    const tookMs = nowMs - (this.#askedMs ?? nowMs)
    this.#askedMs = undefined
    if (this.#isAccepting(nowMs)) return this.#makePass()
    const atOnceMax = Math.max(
      this.#limits.handshakesAtOnceMax,
      Math.min(Math.floor(tookMs / msForEach), inLongPassMax),
    )
    for (let begun = 0; begun < atOnceMax; begun += 1) {
      const index = this.#count < this.#limits.handshakesMax ? this.#nextIndex() : -1
      const [next] = index < 0 ? [] : this.#waiting.splice(index, 1)
      // The next that ends makes a pass.
      if (next === undefined) return this.#watchOldest()
      this.#begin(next)
    }
    this.#watchOldest()
    if (this.#waiting.length > 0) this.#makePass()
  }

  /** Whether more may wait for the port. A process with much to do has arrivals in each of its long passes. */
  #isAccepting(nowMs: number): boolean {
    if (this.#acceptingPasses === 0) this.#acceptingSinceMs = nowMs
    const isAccepting =
      this.#hasArrived &&
      this.#acceptingPasses < acceptingPassesMax &&
      nowMs - this.#acceptingSinceMs < acceptingMsMax
    this.#acceptingPasses = isAccepting ? this.#acceptingPasses + 1 : 0
    this.#hasArrived = false
    return isAccepting
  }

  /** The newest of an address that has not its half; below 0: there is none. */
  #nextIndex(): number {
    const ofOneMax = this.#limits.handshakesMax / 2
    return this.#waiting.findLastIndex(
      ({ arrival: { address } }) => (this.#inProgress.get(address) ?? 0) < ofOneMax,
    )
  }

  #begin(waiting: Waiting): void {
    const { address } = waiting.arrival
    this.#count += 1
    this.#inProgress.set(address, (this.#inProgress.get(address) ?? 0) + 1)
    let isCounted = true
    const free = (): void => {
      if (!isCounted) return
      isCounted = false
      this.#count -= 1
      const left = (this.#inProgress.get(address) ?? 1) - 1
      if (left > 0) this.#inProgress.set(address, left)
      else this.#inProgress.delete(address)
      if (this.#waiting.length > 0) this.#makePass()
    }
    const slow = this.#deps.clock.setTimer(this.#limits.quickHandshakeMs, free)
    waiting.end = () => {
      slow[Symbol.dispose]()
      free()
    }
    waiting.arrival.begin()
  }

  #leave(waiting: Waiting): void {
    const index = this.#waiting.indexOf(waiting)
    if (index >= 0) this.#waiting.splice(index, 1)
    this.#watchOldest()
  }

  /** One timer for all: they come in the order of time. */
  #watchOldest(): void {
    const [oldest] = this.#waiting
    if (oldest === undefined) {
      this.#oldest?.[Symbol.dispose]()
      this.#oldest = undefined
      if (this.#dropped === 0) return
      this.#deps.log.info('All connections are greeted again', { dropped: this.#dropped })
      this.#dropped = 0
    } else if (this.#oldest === undefined) {
      const dueMs = oldest.sinceMs + this.#limits.handshakeWaitMs
      const inMs = Math.max(0, dueMs - this.#deps.clock.monotonicMs())
      this.#oldest = this.#deps.clock.setTimer(inMs, () => this.#dropLate())
    }
  }

  #dropLate(): void {
    this.#oldest = undefined
    const lateMs = this.#deps.clock.monotonicMs() - this.#limits.handshakeWaitMs
    while ((this.#waiting[0]?.sinceMs ?? Infinity) <= lateMs) this.#dropOldest()
    this.#watchOldest()
  }

  #dropOldest(): void {
    const oldest = this.#waiting.shift()
    if (oldest === undefined) return
    if (this.#dropped === 0) {
      const text = 'More connections come than can be greeted, some are closed'
      this.#deps.log.info(text, { waiting: this.#waiting.length })
    }
    this.#dropped += 1
    oldest.end = () => undefined
    oldest.arrival.drop()
  }
}

interface Waiting {
  readonly arrival: Arrival
  readonly sinceMs: number
  end: () => void
}
