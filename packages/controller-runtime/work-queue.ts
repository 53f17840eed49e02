import { abortReason, type Clock, type Random, type Timer } from '@skerry/base'

export interface WorkQueueOptions {
  /** First delay of a key that fails; doubles with each failure in a row. */
  baseDelayMs: number
  maxDelayMs: number
  /** Retries of all keys together: a token bucket of this rate and size. */
  retriesPerSecond: number
  retriesBurst: number
  /** Of the keys that are ready the one with the most comes first, and of several the oldest; absent: all are alike. */
  priorityOf?: (key: string) => number
}

/** The defaults of Kubernetes' own controllers. */
const workQueueDefaults: Readonly<WorkQueueOptions> = Object.freeze({
  baseDelayMs: 5,
  maxDelayMs: 1_000_000,
  retriesPerSecond: 10,
  retriesBurst: 100,
})

/**
 * Keys to look at. A key is here once, however often it was added, and no two takers hold it at
 * the same time: added while it is held, it comes again after `done`. So it needs no other bound
 * than the number of objects.
 */
export class WorkQueue {
  readonly #ready = new Set<string>()
  readonly #held = new Set<string>()
  readonly #again = new Set<string>()
  readonly #timers = new Map<string, { atMs: number; timer: Timer }>()
  readonly #failures = new Map<string, number>()
  readonly #waiting: (() => void)[] = []
  readonly #options: WorkQueueOptions
  readonly #clock: Clock
  readonly #random: Random
  #tokens: number
  #tokensAtMs: number

  constructor(options: Partial<WorkQueueOptions>, deps: { clock: Clock; random: Random }) {
    this.#options = { ...workQueueDefaults, ...options }
    this.#clock = deps.clock
    this.#random = deps.random
    this.#tokens = this.#options.retriesBurst
    this.#tokensAtMs = deps.clock.monotonicMs()
  }

  /** Keys that could be taken now. */
  get length(): number {
    return this.#ready.size
  }

  /** True when nothing is ready, held or due later. */
  get isIdle(): boolean {
    return this.#ready.size + this.#held.size + this.#timers.size === 0
  }

  add(key: string): void {
    if (this.#held.has(key)) {
      this.#again.add(key)
      return
    }
    this.#ready.add(key)
    this.#waiting.shift()?.()
  }

  /** Of several delays of one key, the shortest counts. */
  addAfter(key: string, delayMs: number): void {
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

  /** What is due later is due now: it was reckoned by a wall clock that has been set since. */
  addDelayed(): void {
    const keys = [...this.#timers.keys()]
    this.close()
    for (const key of keys) this.add(key)
  }

  /** After a failure. Later with each failure of this key in a row, and never all keys at once. */
  retry(key: string): void {
    const failures = this.#failures.get(key) ?? 0
    this.#failures.set(key, failures + 1)
    const { baseDelayMs, maxDelayMs } = this.#options
    const ownMs =
      Math.min(maxDelayMs, baseDelayMs * 2 ** failures) * (1 + 0.1 * this.#random.next())
    this.addAfter(key, Math.max(ownMs, this.#takeTokenMs()))
  }

  /** After a success: the next failure of this key is its first. */
  forget(key: string): void {
    this.#failures.delete(key)
  }

  failures(key: string): number {
    return this.#failures.get(key) ?? 0
  }

  /** The key stays held until `done`. Rejects with the signal's reason. */
  async take(signal: AbortSignal): Promise<string> {
    for (;;) {
      signal.throwIfAborted()
      const next = this.#first()
      if (next !== undefined) {
        this.#ready.delete(next)
        this.#held.add(next)
        return next
      }
      await this.#somethingReady(signal)
    }
  }

  done(key: string): void {
    this.#held.delete(key)
    if (this.#again.delete(key)) this.add(key)
  }

  /** Drops what is due later; for the end of a run. */
  close(): void {
    for (const { timer } of this.#timers.values()) timer[Symbol.dispose]()
    this.#timers.clear()
  }

  #first(): string | undefined {
    const { priorityOf } = this.#options
    if (priorityOf === undefined) return this.#ready.values().next().value
    let first: { key: string; priority: number } | undefined
    for (const key of this.#ready) {
      const priority = priorityOf(key)
      if (first === undefined || priority > first.priority) first = { key, priority }
    }
    return first?.key
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

  /** Takes one token, if need be one of the future; answers how long until it is due. */
  #takeTokenMs(): number {
    const nowMs = this.#clock.monotonicMs()
    const { retriesPerSecond, retriesBurst } = this.#options
    const refilled = this.#tokens + ((nowMs - this.#tokensAtMs) / 1000) * retriesPerSecond
    this.#tokens = Math.min(retriesBurst, refilled) - 1
    this.#tokensAtMs = nowMs
    return this.#tokens >= 0 ? 0 : (-this.#tokens / retriesPerSecond) * 1000
  }
}
