import type { Clock, Timer } from '@skerry/base'
import type { ApiServerLimits } from '../limits-table.ts'
import { tooManyRequests } from '../contract/status-answer.ts'
import type { BodyShare } from '../contract/body-share.ts'
import { ReadTurns } from './read-turns.ts'
import { WorkTurns } from './work-turns.ts'

export type RequestBodyLimits = Pick<
  ApiServerLimits,
  | 'bodiesBytesMax'
  | 'bodiesBytesPerUserMax'
  | 'largeBodyBytes'
  | 'readBytesPerPass'
  | 'freeReadBytes'
  | 'largeBodiesAtOnceMax'
  | 'largeBodiesOpenMax'
  | 'largeBytesAtOnceMax'
  | 'largeBodyRestMsMax'
  | 'largeBodyAwayMs'
>

export interface BodyOwner {
  readonly user: string
  /** If false, nothing is refused or waits for its turn; large work still yields to small. */
  readonly isBounded: boolean
}

interface Waiting {
  readonly user: string
  readonly work: Work
  readonly start: () => void
}

/** The memory that a large request takes, and whether a step of it runs. */
interface Work {
  /** The bytes of the body and of the stored object that it changes. */
  bytes: number
  /** True while the request waits for the turn of its next step. */
  isPaused: boolean
  /** The time when its last step began, in monotonic milliseconds. */
  stepMs: number
}

/**
 * Limits the memory of request bodies, and how much of the server large ones take: decoding,
 * validating and merging three megabytes takes a second. Each user works on one large body at a
 * time, step by step (WorkTurns), and rests afterwards for as long as it took, so that several
 * attackers together leave time to others. A large body in progress takes 20 to 40 times its size
 * in memory, so the total size of those in progress is limited, too. Large bodies start in the order
 * in which they arrived.
 */
export class RequestBodies implements Disposable {
  readonly #limits: RequestBodyLimits
  readonly #clock: Pick<Clock, 'monotonicMs' | 'setTimer'>
  readonly #bytesOf = new Map<string, number>()
  #bytes = 0
  /** The large request of each user that has one in progress. */
  readonly #running = new Map<string, Work>()
  /** The time before which the server begins no other large body of a user. Monotonic milliseconds. */
  readonly #restUntilMs = new Map<string, number>()
  /** The waiting bodies, oldest first. */
  #waiting: Waiting[] = []
  #timer: Timer | undefined
  readonly #work: WorkTurns
  readonly #reads: ReadTurns

  constructor(limits: RequestBodyLimits, clock: Pick<Clock, 'monotonicMs' | 'setTimer'>) {
    this.#limits = limits
    this.#clock = clock
    this.#work = new WorkTurns({ clock, nextPass: setImmediate })
    this.#reads = new ReadTurns({ bytesPerPass: limits.readBytesPerPass, nextPass: setImmediate })
  }

  get bytes(): number {
    return this.#bytes
  }

  open({ user, isBounded }: BodyOwner, signal: AbortSignal): BodyShare {
    let held = 0
    let isLarge = false
    const work: Work = { bytes: 0, isPaused: false, stepMs: 0 }
    let end: (() => void) | undefined
    let isOver = false
    const pause = async (): Promise<void> => {
      work.isPaused = true
      await this.#work.pause()
      work.isPaused = false
      work.stepMs = this.#clock.monotonicMs()
      signal.throwIfAborted()
    }
    return {
      add: (bytes) => {
        if (isBounded) this.#hold(user, bytes)
        held += bytes
        return isBounded && held > this.#limits.freeReadBytes ? this.#reads.take(bytes) : undefined
      },
      untilItsTurn: async (storedBytes = 0) => {
        const bytes = Math.max(work.bytes, held + storedBytes)
        const hasGrown = bytes > work.bytes
        work.bytes = bytes
        if (bytes <= this.#limits.largeBodyBytes || !hasGrown) return
        isLarge = true
        if (!isBounded) return
        // A request that turns out to be larger than its turn allowed for gives the turn back, and waits for another.
        if (end !== undefined && this.#hasRoomFor(work)) return
        if (end !== undefined) this.#leave(user)
        end = undefined
        end = await this.#begin(user, work, signal)
        // The request may have ended at the moment its turn came.
        if (isOver) end?.()
      },
      get isLarge() {
        return isLarge
      },
      pause: () => (isLarge ? pause() : undefined),
      [Symbol.dispose]: () => {
        isOver = true
        end?.()
        if (isBounded) this.#release(user, held)
        held = 0
      },
    }
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]()
  }

  #hold(user: string, bytes: number): void {
    const { bodiesBytesMax, bodiesBytesPerUserMax, largeBodyBytes } = this.#limits
    const ofUser = (this.#bytesOf.get(user) ?? 0) + bytes
    // A few users who hold the whole limit must not block the heartbeats of nodes.
    const isLarge = ofUser > largeBodyBytes
    if (ofUser > bodiesBytesPerUserMax || (isLarge && this.#bytes + bytes > bodiesBytesMax)) {
      throw tooManyRequests()
    }
    this.#bytesOf.set(user, ofUser)
    this.#bytes += bytes
  }

  #release(user: string, bytes: number): void {
    const left = (this.#bytesOf.get(user) ?? 0) - bytes
    if (left > 0) this.#bytesOf.set(user, left)
    else this.#bytesOf.delete(user)
    this.#bytes -= bytes
  }

  /** Resolves with the function that ends the turn. */
  #begin(user: string, work: Work, signal: AbortSignal): Promise<() => void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      const onAbort = (): void => {
        this.#waiting = this.#waiting.filter((each) => each !== waiting)
        reject(signal.reason)
        this.#next()
      }
      const waiting: Waiting = {
        user,
        work,
        start: () => {
          signal.removeEventListener('abort', onAbort)
          const startMs = this.#clock.monotonicMs()
          work.stepMs = startMs
          this.#running.set(user, work)
          resolve(() => this.#end(user, startMs))
        },
      }
      signal.addEventListener('abort', onAbort, { once: true })
      this.#waiting.push(waiting)
      this.#next()
    })
  }

  #leave(user: string): void {
    this.#running.delete(user)
    this.#next()
  }

  #end(user: string, startMs: number): void {
    this.#running.delete(user)
    const nowMs = this.#clock.monotonicMs()
    const restMs = Math.min(nowMs - startMs, this.#limits.largeBodyRestMsMax)
    if (restMs > 0) this.#restUntilMs.set(user, nowMs + restMs)
    this.#next()
  }

  #next(): void {
    this.#timer?.[Symbol.dispose]()
    this.#timer = undefined
    const nowMs = this.#clock.monotonicMs()
    for (const [user, untilMs] of this.#restUntilMs) {
      if (untilMs <= nowMs) this.#restUntilMs.delete(user)
    }
    for (const waiting of this.#waiting) {
      if (this.#isFull()) return this.#lookAgain(this.#limits.largeBodyAwayMs)
      if (this.#running.has(waiting.user) || this.#restUntilMs.has(waiting.user)) continue
      // Smaller requests must not overtake it, because it might then wait forever.
      if (!this.#hasRoomFor(waiting.work)) return this.#lookAgain(this.#limits.largeBodyAwayMs)
      this.#waiting = this.#waiting.filter((each) => each !== waiting)
      waiting.start()
    }
    const resting = this.#waiting.flatMap(({ user }) => this.#restUntilMs.get(user) ?? [])
    // This is when the first resting user may continue.
    if (resting.length > 0) this.#lookAgain(Math.min(...resting) - nowMs)
  }

  #isFull(): boolean {
    const { largeBodiesAtOnceMax, largeBodiesOpenMax } = this.#limits
    return (
      this.#running.size >= largeBodiesOpenMax || this.#present().length >= largeBodiesAtOnceMax
    )
  }

  /** Returns true for a request of any size if no other is in progress. */
  #hasRoomFor(work: Work): boolean {
    const others = this.#present().filter((running) => running !== work)
    const bytes = others.reduce((sum, running) => sum + running.bytes, 0)
    return bytes === 0 || bytes + work.bytes <= this.#limits.largeBytesAtOnceMax
  }

  /** The requests in progress, without those that wait for another server, such as a webhook. */
  #present(): Work[] {
    const awaySinceMs = this.#clock.monotonicMs() - this.#limits.largeBodyAwayMs
    return [...this.#running.values()].filter(
      ({ isPaused, stepMs }) => isPaused || stepMs > awaySinceMs,
    )
  }

  #lookAgain(delayMs: number): void {
    this.#timer = this.#clock.setTimer(delayMs, () => this.#next())
  }
}
