import { linkedSignal, logFailure, type LinkedSignal, type Timer } from '@skerry/base'
import { CompactedError, type WatchBatch, type WatchOptions } from '../store.ts'
import { WatchHub } from '../watch-hub.ts'
import { watchEtcd, type EtcdWatchDeps } from './etcd-watch.ts'
import { storeBounds, type StoreLimits } from '../limits-table.ts'

export interface EtcdFeedOptions {
  readonly limits: StoreLimits
  /** The revision where the feed begins; everything up to it has happened. */
  readonly revision: number
  /** True if this etcd's progress reports can be trusted; see `canTellProgress`. */
  readonly tellsProgress: boolean
  /** Asks etcd for the newest revision. */
  readonly newest: () => Promise<number>
}

const { lateMs } = storeBounds.etcdFeed

/** One watch on etcd for all watchers of this process. */
export class EtcdFeed implements AsyncDisposable {
  readonly #options: EtcdFeedOptions
  readonly #deps: EtcdWatchDeps
  readonly #hub: WatchHub
  readonly #scope: LinkedSignal
  readonly #running: Promise<void>
  #revision: number
  #known: number
  #lateTimer: Timer | undefined
  #askProgress: () => void = () => undefined

  constructor(options: EtcdFeedOptions, deps: EtcdWatchDeps) {
    this.#options = options
    this.#deps = deps
    this.#revision = options.revision
    this.#known = options.revision
    const revision = (): number => this.#revision
    this.#hub = new WatchHub(options.limits, { clock: deps.clock, revision })
    this.#scope = linkedSignal(new AbortController().signal)
    this.#running = this.#run(this.#scope.signal)
  }

  /**
   * Records that a change of this revision exists. If it does not arrive soon, its key is not one
   * of ours.
   */
  expect(revision: number): void {
    this.#known = Math.max(this.#known, revision)
    if (this.#known > this.#revision) this.#armLate()
  }

  /** Yields first the past changes that etcd still has, and then live ones. */
  async *batches(options: WatchOptions, signal: AbortSignal): AsyncGenerator<WatchBatch, void> {
    signal.throwIfAborted()
    const { afterRevision } = options
    const liveFrom = Math.max(afterRevision, this.#revision)
    // Subscribes before the history is read, so that changes made meanwhile are buffered.
    using live = this.#hub.subscribe({ ...options, afterRevision: liveFrom, signal })
    let reached = afterRevision
    if (afterRevision < liveFrom) {
      for await (const batch of this.#history(options, liveFrom, signal)) {
        reached = batch.revision
        if (batch.events.length > 0) yield batch
      }
    }
    for (;;) {
      const batch = await live.next()
      const events = batch.events.filter((event) => event.modRevision > reached)
      if (events.length > 0) yield { events, revision: batch.revision }
      else if (batch.events.length === 0) {
        yield { events, revision: Math.max(batch.revision, reached) }
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#lateTimer?.[Symbol.dispose]()
    this.#scope.abort(new Error('The store is closed'))
    await this.#running
  }

  /** Ends every watcher with this error. */
  close(error: Error): void {
    this.#hub.close(error)
  }

  async *#history(
    { prefix, afterRevision }: WatchOptions,
    to: number,
    signal: AbortSignal,
  ): AsyncGenerator<WatchBatch, void> {
    for await (const batch of watchEtcd({ afterRevision }, this.#deps, signal)) {
      const events = batch.events.filter(({ key }) => key.startsWith(prefix))
      yield { events, revision: batch.revision }
      if (batch.revision >= to) return
    }
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#follow(signal)
      } catch (error) {
        if (signal.aborted) return
        if (!(error instanceof CompactedError)) throw error
        // The connection was away for longer than etcd keeps history, so watchers must list again.
        this.#deps.log.info('Watch on etcd has a gap', { error })
        await this.#restart(error, signal)
      }
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const onOpen = (askProgress: () => void): void => {
      this.#askProgress = askProgress
    }
    const options = { afterRevision: this.#revision, onOpen }
    for await (const batch of watchEtcd(options, this.#deps, signal)) {
      if (batch.revision > this.#revision) this.#revision = batch.revision
      if (batch.events.length > 0) this.#hub.publish(batch.events, batch.revision)
      else this.#hub.publishProgress(batch.revision)
    }
  }

  async #restart(gap: CompactedError, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        this.#revision = await this.#options.newest()
        return this.#hub.close(gap)
      } catch (error) {
        logFailure(this.#deps.log, {
          subject: 'Restart watch on etcd',
          message: 'Watch on etcd cannot be restarted, trying again',
          error,
        })
        await this.#deps.clock.sleep(storeBounds.etcdFeed.restartMs, signal).catch(() => undefined)
      }
    }
  }

  #armLate(): void {
    if (this.#lateTimer) return
    this.#lateTimer = this.#deps.clock.setTimer(lateMs, () => {
      this.#lateTimer = undefined
      if (this.#known <= this.#revision) return
      if (this.#options.tellsProgress) this.#askProgress()
      this.#armLate()
    })
  }
}
