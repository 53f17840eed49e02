import type { Clock, Logger, Timer } from '@skerry/base'
import { apiServerBounds, type ApiServerLimits } from '../limits-table.ts'

export type HandshakeLimits = Pick<
  ApiServerLimits,
  | 'handshakesMax'
  | 'handshakesAtOnceMax'
  | 'quickHandshakeMs'
  | 'waitingHandshakesMax'
  | 'handshakeWaitMs'
>

/** A connection whose TLS handshake has not begun. */
export interface Arrival {
  /** The address that the connection comes from. */
  readonly address: string
  /** True if the client lets others go first; see patientProtocol. */
  readonly isPatient: boolean
  /** Begins the handshake. */
  begin(): void
  /** Closes the connection without a handshake. */
  drop(): void
}

export interface Turn {
  /** Call this when the handshake is over or the connection is gone. Further calls do nothing. */
  end(): void
}

const { acceptingPassesMax, acceptingMsMax, inLongPassMax, msForEach } =
  apiServerBounds.handshakeTurns

/**
 * The share of patient clients among the handshakes in progress. It leaves a quarter of one
 * address's half to other clients from there.
 */
const patientShare = 3 / 8

export interface HandshakeTurnsDeps {
  readonly clock: Pick<Clock, 'monotonicMs' | 'setTimer'>
  readonly log: Logger
  /** Calls back in the next pass of the event loop, once arrived connections were accepted (setImmediate). */
  readonly nextPass: (call: () => void) => void
}

/**
 * Decides which clients may begin a TLS handshake when more arrive than the CPU can handle. If all
 * began at once, all would end at once, after their clients have given up; in order of arrival, a
 * user would wait behind thousands of agents. Therefore connections that wait for the port are
 * accepted first, which costs little. A few handshakes begin in each pass of the event loop, more
 * after long passes, and a limited number is in progress. Agents, which declare that they are
 * patient, go last and get only part of the places. In each lane the newest goes first, so that a
 * client that arrives while thousands wait is served next. A connection that waits in vain is
 * closed, and its client reconnects. One address has at most half of the places, so that a flood
 * from there leaves the other half.
 */
export class HandshakeTurns {
  readonly #limits: HandshakeLimits
  readonly #deps: HandshakeTurnsDeps
  /** The number of handshakes by address, without slow ones. */
  readonly #inProgress = new Map<string, number>()
  #count = 0
  /** The number of patient clients among them. */
  #patientCount = 0
  /** The waiting connections, oldest first. */
  readonly #urgent: Waiting[] = []
  readonly #patient: Waiting[] = []
  #late: Timer | undefined
  /** When the next pass was requested; undefined if none is due. */
  #askedMs: number | undefined
  #hasArrived = false
  #acceptingPasses = 0
  #acceptingSinceMs = 0
  /** The number since the queue was last empty. */
  #dropped = 0

  constructor(limits: HandshakeLimits, deps: HandshakeTurnsDeps) {
    this.#limits = limits
    this.#deps = deps
  }

  arrive(arrival: Arrival): Turn {
    const sinceMs = this.#deps.clock.monotonicMs()
    const waiting: Waiting = { arrival, sinceMs, end: () => undefined }
    waiting.end = () => this.#leave(waiting)
    this.#laneOf(waiting).push(waiting)
    if (this.#waitingCount > this.#limits.waitingHandshakesMax) {
      this.#dropFirst(this.#patient.length > 0 ? this.#patient : this.#urgent)
    }
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
      const next = this.#next()
      // The next handshake that ends triggers a pass.
      if (next === undefined) return this.#watchOldest()
      this.#begin(next)
    }
    this.#watchOldest()
    if (this.#waitingCount > 0) this.#makePass()
  }

  /**
   * Returns true if more connections may wait for the port. A busy process has arrivals in each of
   * its long passes.
   */
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

  get #waitingCount(): number {
    return this.#urgent.length + this.#patient.length
  }

  #laneOf({ arrival }: Waiting): Waiting[] {
    return arrival.isPatient ? this.#patient : this.#urgent
  }

  /** Removes the next connection from its lane. */
  #next(): Waiting | undefined {
    const { handshakesMax } = this.#limits
    if (this.#count >= handshakesMax) return undefined
    const urgent = this.#takeNewest(this.#urgent)
    const isRoom = this.#patientCount < handshakesMax * patientShare
    return urgent ?? (isRoom ? this.#takeNewest(this.#patient) : undefined)
  }

  /** Takes the newest connection of an address that uses less than its half. */
  #takeNewest(lane: Waiting[]): Waiting | undefined {
    const ofOneMax = this.#limits.handshakesMax / 2
    const index = lane.findLastIndex(
      ({ arrival: { address } }) => (this.#inProgress.get(address) ?? 0) < ofOneMax,
    )
    return index < 0 ? undefined : lane.splice(index, 1)[0]
  }

  #begin(waiting: Waiting): void {
    const { address, isPatient } = waiting.arrival
    this.#count += 1
    if (isPatient) this.#patientCount += 1
    this.#inProgress.set(address, (this.#inProgress.get(address) ?? 0) + 1)
    let isCounted = true
    const free = (): void => {
      if (!isCounted) return
      isCounted = false
      this.#count -= 1
      if (isPatient) this.#patientCount -= 1
      const left = (this.#inProgress.get(address) ?? 1) - 1
      if (left > 0) this.#inProgress.set(address, left)
      else this.#inProgress.delete(address)
      if (this.#waitingCount > 0) this.#makePass()
    }
    const slow = this.#deps.clock.setTimer(this.#limits.quickHandshakeMs, free)
    waiting.end = () => {
      slow[Symbol.dispose]()
      free()
    }
    waiting.arrival.begin()
  }

  #leave(waiting: Waiting): void {
    const lane = this.#laneOf(waiting)
    const index = lane.indexOf(waiting)
    if (index >= 0) lane.splice(index, 1)
    this.#watchOldest()
  }

  /** One timer serves all: each lane is in order of time. */
  #watchOldest(): void {
    if (this.#waitingCount === 0) {
      this.#late?.[Symbol.dispose]()
      this.#late = undefined
      if (this.#dropped === 0) return
      this.#deps.log.info('TLS handshakes keep up with the connections again', {
        dropped: this.#dropped,
      })
      this.#dropped = 0
    } else if (this.#late === undefined) {
      const sinceMs = Math.min(sinceOf(this.#urgent), sinceOf(this.#patient))
      const dueMs = sinceMs + this.#limits.handshakeWaitMs
      const inMs = Math.max(0, dueMs - this.#deps.clock.monotonicMs())
      this.#late = this.#deps.clock.setTimer(inMs, () => this.#dropLate())
    }
  }

  #dropLate(): void {
    this.#late = undefined
    const lateMs = this.#deps.clock.monotonicMs() - this.#limits.handshakeWaitMs
    for (const lane of [this.#urgent, this.#patient]) {
      while (sinceOf(lane) <= lateMs) this.#dropFirst(lane)
    }
    this.#watchOldest()
  }

  #dropFirst(lane: Waiting[]): void {
    const oldest = lane.shift()
    if (oldest === undefined) return
    if (this.#dropped === 0) {
      const text = 'Too many connections wait for their TLS handshake, closing some'
      this.#deps.log.info(text, { waiting: this.#waitingCount })
    }
    this.#dropped += 1
    oldest.end = () => undefined
    oldest.arrival.drop()
  }
}

/** Returns when the oldest arrived, or Infinity if none waits. */
function sinceOf(lane: readonly Waiting[]): number {
  return lane[0]?.sinceMs ?? Infinity
}

interface Waiting {
  readonly arrival: Arrival
  readonly sinceMs: number
  end: () => void
}
