import type { Clock, Timer } from '@skerry/base'
import type { LinkHealth } from '../traffic/link-health.ts'
import { tunnelBounds, type TunnelLimits } from '../limits-table.ts'

const { slowestBytesPerMs, lateMs } = tunnelBounds.answerProbe

/**
 * Detects soon whether a link over which a request waits for an answer is still alive: after `answerMs`
 * without a sign of life it pings, and after another `pongMs` without one the link counts as silent until
 * something is heard again. A link without waiting requests has more time (link-health.ts), and so has one
 * with much in flight: those bytes may take as long as they do at 64 kbit/s.
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
  /** The time of the last sign of life before the link was given up. */
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
    // One timer serves all: requests that are answered in time must not pay for one each.
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
    // This process itself was delayed: bytes that came meanwhile have not been read yet.
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
