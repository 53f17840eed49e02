import type { Clock } from '@skerry/base'
import { dealHand } from './shuffle-sharding.ts'
import { apiServerBounds } from '../limits-table.ts'

export interface QueueShape {
  readonly queues: number
  readonly handSize: number
  readonly queueLengthMax: number
}

/** The reason for turning a request away, in the words of upstream's metrics. */
export type Rejection = 'queue-full' | 'concurrency-limit' | 'time-out' | 'cancelled'

/** Gives the seats back. Call once. */
export type Leave = () => void

/** The seats that a request takes, and how long it may wait for them. */
export interface SeatsAsked {
  readonly seats: number
  readonly waitMs: number
  /** How long the seats stay taken after the answer, because the effects of the request continue. */
  readonly afterMs?: number
}

/** The counts of a level, both totals and current values. */
export interface LevelCounts {
  waiting: number
  executing: number
  dispatched: number
  rejected: number
  timedOut: number
  cancelled: number
}

export interface QueueState {
  readonly index: number
  readonly waiting: number
  readonly seatsInUse: number
  readonly startTag: number
}

interface Waiter {
  readonly seats: number
  readonly start: () => void
}

interface Queue {
  readonly waiting: Waiter[]
  /** The virtual time of the next request: the seat milliseconds that the queue has used so far. */
  startTag: number
  seatsInUse: number
}

const { estimateMs, handsMax } = apiServerBounds.priorityQueues

/**
 * Manages the seats of one priority level. Shuffle sharding spreads flows over queues, and queues
 * take turns by the seat time that they have used, so that a flow with many requests only delays
 * itself.
 */
export class PriorityQueues {
  readonly #clock: Clock
  #shape: QueueShape | undefined
  #seatsMax: number
  readonly #queues = new Map<number, Queue>()
  readonly #busy = new Set<Queue>()
  readonly #hands = new Map<string, number[]>()
  #virtualTime = 0
  #seatsInUse = 0
  #seatsWaiting = 0
  #demandMax = 0
  readonly #counts: LevelCounts = {
    waiting: 0,
    executing: 0,
    dispatched: 0,
    rejected: 0,
    timedOut: 0,
    cancelled: 0,
  }

  /** Without a shape there are no queues: a request without a free seat is turned away. */
  constructor(shape: QueueShape | undefined, seatsMax: number, clock: Clock) {
    this.#shape = shape
    this.#seatsMax = seatsMax
    this.#clock = clock
  }

  get seatsInUse(): number {
    return this.#seatsInUse
  }

  get seatsWaiting(): number {
    return this.#seatsWaiting
  }

  get seatsMax(): number {
    return this.#seatsMax
  }

  get counts(): Readonly<LevelCounts> {
    return this.#counts
  }

  /** Returns the queues that were ever used, by number. */
  queues(): QueueState[] {
    return [...this.#queues]
      .map(([index, { waiting, seatsInUse, startTag }]) => ({
        index,
        waiting: waiting.length,
        seatsInUse,
        startTag,
      }))
      .toSorted((a, b) => a.index - b.index)
  }

  setSeats(seatsMax: number): void {
    this.#seatsMax = seatsMax
    this.#dispatch()
  }

  setShape(shape: QueueShape | undefined): void {
    if (JSON.stringify(shape) === JSON.stringify(this.#shape)) return
    this.#shape = shape
    this.#hands.clear()
  }

  /** Returns the largest number of seats that were wanted at one time since the last call. */
  takeDemand(): number {
    const demand = this.#demandMax
    this.#demandMax = this.#seatsInUse + this.#seatsWaiting
    return demand
  }

  /** Resolves when the request may run, or with the reason why it may not. */
  async enter(flow: string, asked: SeatsAsked, signal: AbortSignal): Promise<Leave | Rejection> {
    const seats = Math.max(1, Math.min(asked.seats, this.#seatsMax))
    const queue = this.#queueOf(flow)
    const isFree = this.#busy.size === 0 && this.#hasRoom(seats)
    if (!isFree) {
      const isFull = queue.waiting.length >= (this.#shape?.queueLengthMax ?? 0)
      if (!this.#shape || isFull) {
        this.#counts.rejected += 1
        return this.#shape ? 'queue-full' : 'concurrency-limit'
      }
      this.#counts.waiting += 1
      const rejection = await this.#turn(queue, { seats, waitMs: asked.waitMs }, signal)
      this.#counts.waiting -= 1
      if (rejection) {
        this.#counts[rejection === 'time-out' ? 'timedOut' : 'cancelled'] += 1
        return rejection
      }
    } else this.#start(queue, seats)
    this.#counts.dispatched += 1
    this.#counts.executing += 1
    return this.#leaving(queue, { seats, afterMs: asked.afterMs ?? 0 })
  }

  #hasRoom(seats: number): boolean {
    return this.#seatsInUse === 0 || this.#seatsInUse + seats <= this.#seatsMax
  }

  /** Returns the shortest queue of the flow's hand. */
  #queueOf(flow: string): Queue {
    if (!this.#shape) return this.#queueAt(0)
    let hand = this.#hands.get(flow)
    if (!hand) {
      if (this.#hands.size >= handsMax) this.#hands.clear()
      hand = dealHand(flow, this.#shape.queues, this.#shape.handSize)
      this.#hands.set(flow, hand)
    }
    let best = this.#queueAt(hand[0] ?? 0)
    for (const at of hand) {
      const queue = this.#queueAt(at)
      if (loadOf(queue) < loadOf(best)) best = queue
    }
    return best
  }

  #queueAt(at: number): Queue {
    let queue = this.#queues.get(at)
    if (!queue) {
      queue = { waiting: [], startTag: 0, seatsInUse: 0 }
      this.#queues.set(at, queue)
    }
    return queue
  }

  #turn(
    queue: Queue,
    { seats, waitMs }: { seats: number; waitMs: number },
    signal: AbortSignal,
  ): Promise<Rejection | undefined> {
    return new Promise((resolve) => {
      const settle = (outcome: Rejection | undefined): void => {
        timer[Symbol.dispose]()
        signal.removeEventListener('abort', onAbort)
        this.#seatsWaiting -= seats
        resolve(outcome)
      }
      const waiter: Waiter = { seats, start: () => settle(undefined) }
      const giveUp = (why: Rejection): void => {
        const at = queue.waiting.indexOf(waiter)
        if (at < 0) return
        queue.waiting.splice(at, 1)
        if (queue.waiting.length === 0) this.#busy.delete(queue)
        settle(why)
      }
      const onAbort = (): void => giveUp('cancelled')
      const timer = this.#clock.setTimer(waitMs, () => giveUp('time-out'))
      this.#seatsWaiting += seats
      this.#note()
      queue.waiting.push(waiter)
      this.#busy.add(queue)
      if (signal.aborted) return onAbort()
      signal.addEventListener('abort', onAbort, { once: true })
      this.#dispatch()
    })
  }

  #dispatch(): void {
    for (;;) {
      let next: Queue | undefined
      for (const queue of this.#busy) {
        if (!next || tagOf(queue, this.#virtualTime) < tagOf(next, this.#virtualTime)) next = queue
      }
      const waiter = next?.waiting[0]
      if (!next || !waiter || !this.#hasRoom(waiter.seats)) return
      next.waiting.shift()
      if (next.waiting.length === 0) this.#busy.delete(next)
      this.#start(next, waiter.seats)
      waiter.start()
    }
  }

  #start(queue: Queue, seats: number): void {
    queue.startTag = tagOf(queue, this.#virtualTime)
    this.#virtualTime = queue.startTag
    queue.startTag += seats * estimateMs
    queue.seatsInUse += seats
    this.#seatsInUse += seats
    this.#note()
  }

  #leaving(queue: Queue, { seats, afterMs }: { seats: number; afterMs: number }): Leave {
    const startedMs = this.#clock.monotonicMs()
    const free = (): void => {
      // Charges the actual duration in place of the estimate.
      queue.startTag += seats * (this.#clock.monotonicMs() - startedMs - estimateMs)
      queue.seatsInUse -= seats
      this.#seatsInUse -= seats
      this.#dispatch()
    }
    return () => {
      this.#counts.executing -= 1
      if (afterMs === 0) free()
      else this.#clock.setTimer(afterMs, free)
    }
  }

  #note(): void {
    const demand = this.#seatsInUse + this.#seatsWaiting
    if (demand > this.#demandMax) this.#demandMax = demand
  }
}

function loadOf({ waiting, seatsInUse }: Queue): number {
  return waiting.length * 1_000 + seatsInUse
}

/** A queue that was idle does not get back the time it did not use. */
function tagOf(queue: Queue, virtualTime: number): number {
  const isIdle = queue.seatsInUse === 0 && queue.waiting.length <= 1
  return isIdle ? Math.max(queue.startTag, virtualTime) : queue.startTag
}
