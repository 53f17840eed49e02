import { StatusError } from '@skerry/api'
import type { Clock, Logger } from '@skerry/base'
import {
  CompactedError,
  SlowWatcherError,
  type Entry,
  type Store,
  type StoreEvent,
} from '@skerry/store'
import type { ApiServerLimits } from '../limits-table.ts'
import { CachedObject } from './cached-object.ts'
import { PushTurns } from './push-turns.ts'
import { ResourceCache } from './resource-cache.ts'
import { unreadableReason } from './unreadable-value.ts'

export interface WatchCacheDeps {
  readonly store: Store
  readonly clock: Clock
  readonly log: Logger
  readonly limits: ApiServerLimits
}

/** The prefix of all objects: `/registry/<group or core>/<resource>/[<namespace>/]<name>`. */
const registryPrefix = '/registry/'

/** Returns the storage key of a resource, e.g. `core/configmaps`. */
export function resourceKey(group: string, resource: string): string {
  return `${group === '' ? 'core' : group}/${resource}`
}

export function storageKey(resource: string, objectKey: string): string {
  return `${registryPrefix}${resource}/${objectKey}`
}

interface Waiter {
  readonly revision: number
  readonly wake: () => void
}

/** Serves all reads and watches from memory. One watch on the store feeds the objects of every resource. */
export class WatchCache {
  #revision = 0
  #loadRevision = 0
  readonly #deps: WatchCacheDeps
  readonly #resources = new Map<string, ResourceCache>()
  #waiters: Waiter[] = []
  /** Shared by all watches of this cache. */
  readonly pushTurns: PushTurns

  constructor(deps: WatchCacheDeps) {
    this.#deps = deps
    this.pushTurns = new PushTurns(deps.clock)
  }

  /** The cache contains every change up to this revision. */
  get revision(): number {
    return this.#revision
  }

  get store(): Store {
    return this.#deps.store
  }

  /** Returns the cache of a resource by its `resourceKey`. */
  resource(key: string): ResourceCache {
    let cache = this.#resources.get(key)
    if (!cache) {
      cache = new ResourceCache(this.#loadRevision, this.#deps.limits)
      this.#resources.set(key, cache)
    }
    return cache
  }

  resources(): ReadonlyMap<string, ResourceCache> {
    return this.#resources
  }

  /** Must finish before anything is read. */
  async load(): Promise<void> {
    const { store, limits } = this.#deps
    const loaded: Entry[] = []
    let after: string | undefined
    let revision = 0
    for (;;) {
      const page = await store.list({
        prefix: registryPrefix,
        limit: limits.loadPageEntries,
        revision,
        ...(after === undefined ? {} : { after }),
      })
      revision = page.revision
      loaded.push(...page.entries)
      after = page.entries.at(-1)?.key
      if (!page.more || after === undefined) break
    }
    // The objects are swapped in one step: readers see the old ones or the new ones, never a
    // mixture.
    for (const resource of this.#resources.values()) resource.reset()
    this.#resources.clear()
    this.#loadRevision = revision
    for (const entry of loaded) this.#load(entry)
    this.#advance(revision)
  }

  /** Reads again what could not be decrypted, e.g. because the keys have changed. */
  async retryUnreadable(): Promise<void> {
    for (const [storage, resource] of this.#resources) {
      let hasAppeared = false
      for (const key of resource.unreadableKeys()) {
        const { entry } = await this.#deps.store.get(storageKey(storage, key))
        if (!entry || resource.unreadable(key) === undefined) continue
        this.#load(entry)
        hasAppeared ||= resource.unreadable(key) === undefined
      }
      if (hasAppeared) resource.breakHistory(this.#revision)
    }
  }

  /** Follows the store until the signal aborts. Lists again if the store's history is broken. */
  async run(signal: AbortSignal): Promise<void> {
    const { store, log } = this.#deps
    while (!signal.aborted) {
      try {
        // The prefix is empty because revisions that touch other keys count as progress, too.
        const options = { prefix: '', afterRevision: this.#revision }
        for await (const batch of store.watch(options, signal)) {
          for (const event of batch.events) this.#apply(event)
          this.#advance(batch.revision)
        }
      } catch (error) {
        if (signal.aborted) return
        if (!(error instanceof CompactedError) && !(error instanceof SlowWatcherError)) throw error
        log.info('Watch cache lists again', { error })
      }
      if (signal.aborted) return
      await this.load()
    }
  }

  /** Sends watchers their current revision from time to time, so that they can resume from there. */
  async runBookmarks(signal: AbortSignal): Promise<void> {
    const { clock, limits } = this.#deps
    while (!signal.aborted) {
      await clock.sleep(limits.bookmarkMs, signal)
      for (const resource of this.#resources.values()) resource.bookmark(this.#revision)
    }
  }

  /** Waits until the cache holds everything that is durable now. */
  async fresh(signal: AbortSignal): Promise<void> {
    await this.waitFor(await this.#deps.store.revision(), signal)
  }

  /** Throws StatusError Timeout if the revision does not arrive in time. */
  waitFor(revision: number, signal: AbortSignal): Promise<void> {
    if (revision <= this.#revision) return Promise.resolve()
    const { clock, limits } = this.#deps
    return new Promise((resolve, reject) => {
      const settle = (finish: () => void): void => {
        timer[Symbol.dispose]()
        signal.removeEventListener('abort', onAbort)
        this.#waiters = this.#waiters.filter((other) => other !== waiter)
        finish()
      }
      const onAbort = (): void => settle(() => reject(signal.reason))
      const waiter = { revision, wake: () => settle(resolve) }
      const timer = clock.setTimer(limits.freshReadMs, () =>
        settle(() => reject(tooLargeRevision(revision, this.#revision))),
      )
      signal.addEventListener('abort', onAbort, { once: true })
      this.#waiters.push(waiter)
    })
  }

  #load(entry: Entry): void {
    const place = placeOf(entry.key)
    if (!place) return
    const resource = this.resource(place.resource)
    const reason = unreadableReason(entry)
    if (reason === undefined) resource.load(cachedOf(place.key, entry))
    else {
      resource.markUnreadable(place.key, reason)
      // The store has already reported a damaged value.
      if (!entry.isDamaged) {
        this.#deps.log.error('Object cannot be decrypted', { key: entry.key, reason })
      }
    }
  }

  #apply(event: StoreEvent): void {
    const place = placeOf(event.key)
    if (!place) return
    const resource = this.resource(place.resource)
    const { type, modRevision: revision } = event
    const previous = resource.get(place.key)
    const reason = unreadableReason(event)
    if (reason === undefined) {
      return resource.apply({ type, revision, object: cachedOf(place.key, event), previous })
    }
    if (type === 'put') return resource.markUnreadable(place.key, reason)
    resource.forgetUnreadable(place.key)
    // The last state is still known here; watchers learn that the object is gone.
    if (previous) resource.apply({ type, revision, object: previous.at(revision), previous })
  }

  #advance(revision: number): void {
    if (revision <= this.#revision) return
    this.#revision = revision
    for (const waiter of this.#waiters) if (waiter.revision <= revision) waiter.wake()
  }
}

function cachedOf(key: string, entry: Omit<Entry, 'key'>): CachedObject {
  const { value, modRevision: revision, createRevision } = entry
  return new CachedObject(key, { value, revision, createRevision })
}

/** Splits `/registry/<group>/<resource>/<key>`. Returns undefined for other keys. */
function placeOf(key: string): { resource: string; key: string } | undefined {
  if (!key.startsWith(registryPrefix)) return undefined
  const groupEnd = key.indexOf('/', registryPrefix.length)
  const resourceEnd = groupEnd < 0 ? -1 : key.indexOf('/', groupEnd + 1)
  if (resourceEnd < 0) return undefined
  return {
    resource: key.slice(registryPrefix.length, resourceEnd),
    key: key.slice(resourceEnd + 1),
  }
}

function tooLargeRevision(asked: number, current: number): StatusError {
  return new StatusError(
    'Timeout',
    `Timeout: Too large resource version: ${asked}, current: ${current}`,
    {
      details: {
        causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
        retryAfterSeconds: 1,
      },
    },
  )
}
