import type { Clock, Timer } from '@skerry/base'
import { SlowWatcherError, type StoreEvent, type WatchBatch } from './store.ts'
import { type StoreLimits } from './limits-table.ts'

export interface SubscribeOptions {
  prefix: string
  /** Events at or below this revision are not delivered. */
  afterRevision: number
  progressMs?: number
  /** Aborting it ends the watcher with its reason. */
  signal: AbortSignal
}

export type WatcherBounds = Pick<StoreLimits, 'watcherEventsMax' | 'watcherBytesMax'>

interface HubDeps {
  clock: Clock
  /** The newest revision that publish() was called for. */
  revision: () => number
}

/**
 * Distributes events to watchers. Watchers of one prefix share one batch, and an event looks up
 * only the prefixes it has, so the cost depends on the matching watchers and not on all of them.
 */
export class WatchHub {
  readonly #topics = new Map<string, Set<Subscription>>()
  /** The number of topics whose prefix has this length. */
  readonly #lengths = new Map<number, number>()
  readonly #bounds: WatcherBounds
  readonly #deps: HubDeps

  constructor(bounds: WatcherBounds, deps: HubDeps) {
    this.#bounds = bounds
    this.#deps = deps
  }

  /** Subscribes from this very turn on. Dispose it to leave. The signal must not be aborted yet. */
  subscribe(options: SubscribeOptions): Subscription {
    const subscription = new Subscription(options, this.#bounds, {
      ...this.#deps,
      leave: () => this.#leave(options.prefix, subscription),
    })
    const topic = this.#topics.get(options.prefix)
    if (topic) topic.add(subscription)
    else {
      this.#topics.set(options.prefix, new Set([subscription]))
      this.#countLength(options.prefix.length, 1)
    }
    return subscription
  }

  /** `events` are whole revisions in order, up to `revision`. */
  publish(events: readonly StoreEvent[], revision: number): void {
    const byTopic = new Map<Set<Subscription>, StoreEvent[]>()
    for (const event of events) {
      for (const length of this.#lengths.keys()) {
        const topic = this.#topics.get(event.key.slice(0, length))
        if (topic === undefined || length > event.key.length) continue
        const matched = byTopic.get(topic)
        if (matched) matched.push(event)
        else byTopic.set(topic, [event])
      }
    }
    for (const [topic, matched] of byTopic) {
      const batch = { events: matched, revision }
      for (const subscription of topic) subscription.push(batch)
    }
  }

  /** Notifies every watcher that nothing else happened up to `revision`. */
  publishProgress(revision: number): void {
    for (const topic of this.#topics.values()) {
      for (const subscription of topic) subscription.pushProgress(revision)
    }
  }

  /** Ends every watcher with this error. */
  close(error: Error): void {
    for (const topic of this.#topics.values()) {
      for (const subscription of topic) subscription.fail(error)
    }
  }

  #leave(prefix: string, subscription: Subscription): void {
    const topic = this.#topics.get(prefix)
    if (!topic?.delete(subscription) || topic.size > 0) return
    this.#topics.delete(prefix)
    this.#countLength(prefix.length, -1)
  }

  #countLength(length: number, change: number): void {
    const count = (this.#lengths.get(length) ?? 0) + change
    if (count === 0) this.#lengths.delete(length)
    else this.#lengths.set(length, count)
  }
}

interface SubscriptionDeps extends HubDeps {
  leave: () => void
}

/** One watcher's queue. Holds references to shared batches, and ends itself if it grows too long. */
class Subscription implements Disposable {
  #batches: WatchBatch[] = []
  #waitingEvents = 0
  #waitingBytes = 0
  #failure: { readonly reason: unknown } | undefined
  #wake: (() => void) | undefined
  #timer: Timer | undefined
  readonly #options: SubscribeOptions
  readonly #onAbort = (): void => this.fail(this.#options.signal.reason)
  readonly #bounds: WatcherBounds
  readonly #deps: SubscriptionDeps

  constructor(options: SubscribeOptions, bounds: WatcherBounds, deps: SubscriptionDeps) {
    this.#options = options
    this.#bounds = bounds
    this.#deps = deps
    // One listener serves a whole watcher: adding one per wait would make each wait traverse all
    // listeners.
    options.signal.addEventListener('abort', this.#onAbort, { once: true })
    this.#armProgress()
  }

  push(batch: WatchBatch): void {
    const fresh = this.#withoutOld(batch)
    if (fresh.events.length === 0) return
    this.#waitingEvents += fresh.events.length
    this.#waitingBytes += bytesOf(fresh)
    const { watcherEventsMax, watcherBytesMax } = this.#bounds
    if (this.#waitingEvents > watcherEventsMax || this.#waitingBytes > watcherBytesMax) {
      const waiting = `${this.#waitingEvents} events with ${this.#waitingBytes} bytes`
      return this.fail(new SlowWatcherError(`Cannot go on watching: ${waiting} are unread`))
    }
    this.#batches.push(fresh)
    this.#wake?.()
  }

  pushProgress(revision: number): void {
    if (revision <= this.#options.afterRevision) return
    // A newer progress batch makes an unread older one redundant.
    if (this.#batches.at(-1)?.events.length === 0) this.#batches.pop()
    this.#batches.push({ events: [], revision })
    this.#wake?.()
  }

  fail(reason: unknown): void {
    this.#failure ??= { reason }
    this[Symbol.dispose]()
    this.#batches = []
    this.#wake?.()
  }

  /** Resolves to the next batch, in order. Rejects with the reason why the watch ended. */
  async next(): Promise<WatchBatch> {
    for (;;) {
      if (this.#failure) throw this.#failure.reason
      const batch = this.#batches.shift()
      if (batch) {
        this.#waitingEvents -= batch.events.length
        this.#waitingBytes -= bytesOf(batch)
        this.#armProgress()
        return batch
      }
      await this.#woken()
    }
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]()
    this.#timer = undefined
    this.#options.signal.removeEventListener('abort', this.#onAbort)
    this.#deps.leave()
  }

  #withoutOld(batch: WatchBatch): WatchBatch {
    const { afterRevision } = this.#options
    const first = batch.events[0]
    if (first === undefined || first.modRevision > afterRevision) return batch
    const events = batch.events.filter((event) => event.modRevision > afterRevision)
    return { events, revision: batch.revision }
  }

  #armProgress(): void {
    const { progressMs } = this.#options
    if (progressMs === undefined) return
    this.#timer?.[Symbol.dispose]()
    this.#timer = this.#deps.clock.setTimer(progressMs, () => {
      if (this.#batches.length === 0) {
        this.#batches.push({ events: [], revision: this.#deps.revision() })
      }
      this.#wake?.()
      this.#armProgress()
    })
  }

  #woken(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }
}

function bytesOf(batch: WatchBatch): number {
  let bytes = 0
  for (const event of batch.events) bytes += event.value.length
  return bytes
}
