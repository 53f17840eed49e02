import type { Clock, Timer } from '@skerry/base'
import type { LinkHealth } from '../traffic/link-health.ts'
import type { TunnelLimits } from '../frame/tunnel-limits.ts'

/** 64 kbit/s: what was sent over the thinnest link that is served has left after so long. */
const slowestBytesPerMs = 8
/** A timer that comes later than this says nothing of the link. */
const lateMs = 500

/**
 * Tells soon whether a link over which somebody waits for an answer still lives: after `answerMs` without a
 * sign of life it pings, and without one in the `pongMs` after that the link counts as silent until
 * something is heard again. A link that nobody waits on has its time (link-health.ts), and so has one with
 * much on its way: what was sent may take as long as it does at 64 kbit/s.
 */
export class AnswerProbe<Waiter> implements Disposable {
  readonly #waiting = new Map<Waiter, number>()
  readonly #limits: Pick<TunnelLimits, 'answerMs' | 'pongMs'>
  readonly #health: LinkHealth
  readonly #clock: Clock
  readonly #onSilent: (waiters: readonly Waiter[]) => void
  #timer: Timer | undefined
  #dueMs = 0
  #probed: { readonly atMs: number; readonly patienceMs: number } | undefined
  /** When something was heard last before the link was given up. */
  #givenUpMs: number | undefined

  constructor(
    limits: Pick<TunnelLimits, 'answerMs' | 'pongMs'>,
    health: LinkHealth,
    clock: Clock,
    onSilent: (waiters: readonly Waiter[]) => void,
  ) {
    this.#limits = limits
    this.#health = health
    this.#clock = clock
    this.#onSilent = onSilent
  }

  /** A probe had no answer, and nothing was heard since. */
  get isSilent(): boolean {
    return this.#givenUpMs !== undefined && this.#health.heardMs <= this.#givenUpMs
  }

  begin(waiter: Waiter): void {
    this.#waiting.set(waiter, this.#clock.monotonicMs())
    // One timer looks after all: requests that are answered in time must not each pay for theirs.
    if (this.#timer === undefined) this.#lookIn(this.#limits.answerMs)
  }

  end(waiter: Waiter): void {
    this.#waiting.delete(waiter)
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]()
    this.#waiting.clear()
  }

  #look(): void {
    const [oldestMs] = this.#waiting.values()
    this.#timer = undefined
    if (oldestMs === undefined) return
    const nowMs = this.#clock.monotonicMs()
    // This process itself was held up: what came meanwhile has not been read yet.
    if (nowMs - this.#dueMs > lateMs) return this.#lookIn(lateMs)
    const { heardMs } = this.#health
    const quietMs = nowMs - Math.max(oldestMs, heardMs)
    const { answerMs, pongMs } = this.#limits
    if (quietMs < answerMs) return this.#lookIn(answerMs - quietMs)
    if (this.#probed === undefined || heardMs >= this.#probed.atMs) {
      const patienceMs = pongMs + this.#health.unprovenBytes / slowestBytesPerMs
      this.#probed = { atMs: nowMs, patienceMs }
      this.#health.probe()
    }
    const { atMs, patienceMs } = this.#probed
    if (nowMs - atMs < patienceMs) return this.#lookIn(patienceMs - (nowMs - atMs))
    this.#givenUpMs = heardMs
    this.#probed = undefined
    const waiters = [...this.#waiting.keys()]
    this.#waiting.clear()
    this.#onSilent(waiters)
  }

  #lookIn(ms: number): void {
    const waitMs = Math.ceil(ms)
    this.#dueMs = this.#clock.monotonicMs() + waitMs
    this.#timer = this.#clock.setTimer(waitMs, () => this.#look())
  }
}
