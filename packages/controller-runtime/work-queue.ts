import { abortReason, type Clock, type Random, type Timer } from '@skerry/base'
import type { ControllerMetrics, ObservedQueue, QueueMetrics } from './controller-metrics.ts'
import { controllerRuntimeBounds } from './limits-table.ts'

export interface WorkQueueOptions {
  /** The queue's name in metrics. If omitted, the queue is not measured. */
  name?: string
  /** The first delay of a failing key, which doubles with each failure in a row. */
  baseDelayMs: number
  maxDelayMs: number
  /** Limits the retries of all keys together: a token bucket of this rate and size. */
  retriesPerSecond: number
  retriesBurst: number
  /**
   * Returns a key's priority. The ready key with the highest comes first, and of equal ones the
   * oldest. If omitted, all are equal.
   */
  priorityOf?: (key: string) => number
}

export interface WorkQueueDeps {
  readonly clock: Clock
  readonly random: Random
  readonly metrics?: ControllerMetrics
}

const workQueueDefaults = controllerRuntimeBounds.workQueue

/**
 * A queue of keys to reconcile. Each key is in it once, however often it was added, and only one
 * worker holds it at a time: if it is added while held, it comes again after `done`. The number of
 * objects is therefore limit enough.
 */
export class WorkQueue implements ObservedQueue {
  /** Keys with the time at which they were added, or taken; the time is monotonic, in milliseconds. */
  readonly #ready = new Map<string, number>()
  readonly #held = new Map<string, number>()
  readonly #again = new Map<string, number>()
  readonly #timers = new Map<string, { atMs: number; timer: Timer }>()
  readonly #failures = new Map<string, number>()
  readonly #waiting: (() => void)[] = []
  readonly #options: WorkQueueOptions
  readonly #clock: Clock
  readonly #random: Random
  readonly #metrics: QueueMetrics | undefined
  #tokens: number
  #tokensAtMs: number

  constructor(options: Partial<WorkQueueOptions>, deps: WorkQueueDeps) {
    this.#options = { ...workQueueDefaults, ...options }
    this.#clock = deps.clock
    this.#random = deps.random
    this.#tokens = this.#options.retriesBurst
    this.#tokensAtMs = deps.clock.monotonicMs()
    if (options.name !== undefined) this.#metrics = deps.metrics?.queue(options.name, this)
  }

  /** The number of keys that could be taken now. */
  get length(): number {
    return this.#ready.size
  }

  get depth(): number {
    return this.#ready.size + this.#again.size
  }

  heldMs(): number[] {
    const nowMs = this.#clock.monotonicMs()
    return Array.from(this.#held.values(), (sinceMs) => nowMs - sinceMs)
  }

  /** True if nothing is ready, held or due later. */
  get isIdle(): boolean {
    return this.#ready.size + this.#held.size + this.#timers.size === 0
  }

  add(key: string): void {
    const isHeld = this.#held.has(key)
    const waiting = isHeld ? this.#again : this.#ready
    if (!waiting.has(key)) {
      waiting.set(key, this.#clock.monotonicMs())
      this.#metrics?.onAdded()
    }
    if (!isHeld) this.#waiting.shift()?.()
  }

  /** If one key has several delays, the shortest counts. */
  addAfter(key: string, delayMs: number): void {
    this.#metrics?.onDelayed()
    if (delayMs <= 0) return this.add(key)
    const atMs = this.#clock.monotonicMs() + delayMs
    const known = this.#timers.get(key)
    if (known && known.atMs <= atMs) return
    known?.timer[Symbol.dispose]()
    const timer = this.#clock.setTimer(delayMs, () => {
      this.#timers.delete(key)
      this.add(key)
    })
    this.#timers.set(key, { atMs, timer })
  }

  /**
   * Makes all delayed keys due now, because their delays were computed by a wall clock that has
   * been set since.
   */
  addDelayed(): void {
    const keys = [...this.#timers.keys()]
    this.#dropDelayed()
    for (const key of keys) this.add(key)
  }

  /**
   * Adds a key after a failure. The delay grows with each failure of this key in a row, and a common rate limit keeps all
   * keys from coming at once.
   */
  retry(key: string): void {
    const failures = this.#failures.get(key) ?? 0
    this.#failures.set(key, failures + 1)
    const { baseDelayMs, maxDelayMs } = this.#options
    const ownMs =
      Math.min(maxDelayMs, baseDelayMs * 2 ** failures) * (1 + 0.1 * this.#random.next())
    this.addAfter(key, Math.max(ownMs, this.#takeTokenMs()))
  }

  /** Call this after a success: the next failure of this key counts as its first. */
  forget(key: string): void {
    this.#failures.delete(key)
  }

  failures(key: string): number {
    return this.#failures.get(key) ?? 0
  }

  /** Takes a key, which stays held until `done`. Rejects with the signal's reason. */
  async take(signal: AbortSignal): Promise<string> {
    for (;;) {
      signal.throwIfAborted()
      const next = this.#first()
      if (next !== undefined) {
        const [key, addedAtMs] = next
        const nowMs = this.#clock.monotonicMs()
        this.#ready.delete(key)
        this.#held.set(key, nowMs)
        this.#metrics?.onTaken(nowMs - addedAtMs)
        return key
      }
      await this.#somethingReady(signal)
    }
  }

  done(key: string): void {
    const takenAtMs = this.#held.get(key)
    if (takenAtMs === undefined) return
    this.#held.delete(key)
    this.#metrics?.onDone(this.#clock.monotonicMs() - takenAtMs)
    const addedAtMs = this.#again.get(key)
    if (addedAtMs === undefined) return
    this.#again.delete(key)
    this.#ready.set(key, addedAtMs)
    this.#waiting.shift()?.()
  }

  /** Drops delayed keys, at the end of a run. */
  close(): void {
    this.#dropDelayed()
    this.#metrics?.[Symbol.dispose]()
  }

  #dropDelayed(): void {
    for (const { timer } of this.#timers.values()) timer[Symbol.dispose]()
    this.#timers.clear()
  }

  /** Returns the key to take next, with the time at which it was added. */
  #first(): readonly [string, number] | undefined {
    const { priorityOf } = this.#options
    if (priorityOf === undefined) return this.#ready.entries().next().value
    let first: { entry: readonly [string, number]; priority: number } | undefined
    for (const entry of this.#ready) {
      const priority = priorityOf(entry[0])
      if (first === undefined || priority > first.priority) first = { entry, priority }
    }
    return first?.entry
  }

  #somethingReady(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        const position = this.#waiting.indexOf(wake)
        if (position >= 0) this.#waiting.splice(position, 1)
        reject(abortReason(signal))
      }
      const wake = (): void => {
        signal.removeEventListener('abort', onAbort)
        resolve()
      }
      this.#waiting.push(wake)
      signal.addEventListener('abort', onAbort, { once: true })
    })
  }

  /** Takes one token, if necessary a future one. Returns the time until it is due. */
  #takeTokenMs(): number {
    const nowMs = this.#clock.monotonicMs()
    const { retriesPerSecond, retriesBurst } = this.#options
    const refilled = this.#tokens + ((nowMs - this.#tokensAtMs) / 1000) * retriesPerSecond
    this.#tokens = Math.min(retriesBurst, refilled) - 1
    this.#tokensAtMs = nowMs
    return this.#tokens >= 0 ? 0 : (-this.#tokens / retriesPerSecond) * 1000
  }
}
