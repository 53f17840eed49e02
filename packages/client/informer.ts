import {
  abortReason,
  asError,
  createBackoff,
  createWakeFlag,
  giveWay,
  type Backoff,
  type Clock,
  type Logger,
  type Random,
} from '@skerry/base'
import { StatusError, isStatusError, type KubeObject } from '@skerry/api'
import { clientBounds, clientLimits } from './limits-table.ts'
import {
  ObjectCache,
  keyOfObject,
  keyText,
  type Change,
  type IndexFunction,
  type IndexFunctions,
} from './object-cache.ts'
import type { ObjectKey, ResourceRef } from './request-path.ts'
import type { ResourceClient, Selectors } from './resource-client.ts'
import { compareResourceVersions } from './resource-version.ts'
import type { WatchEvent } from './watch-events.ts'

export interface InformerOptions<T extends KubeObject> extends Selectors {
  /** If omitted, all namespaces. */
  namespace?: string
  indexes?: IndexFunctions<T>
  /** Returns the part of each object to keep. Default: everything except managedFields. */
  transform?: (object: T) => T
}

export interface InformerDeps {
  clock: Clock
  random: Random
  log: Logger
}

/**
 * A copy of one resource's objects that follows the server. Objects are frozen. While the server is
 * unreachable it keeps answering from its copy; `lastContactMs` returns its age.
 */
export interface Informer<T extends KubeObject> {
  readonly resource: ResourceRef
  get(key: ObjectKey): T | undefined
  /** Lists all objects, or those of one namespace. */
  list(namespace?: string): readonly T[]
  byIndex(index: string, value: string): readonly T[]
  /** May be called after the start. The same name must always mean the same function. */
  addIndex(name: string, of: IndexFunction<T>): void
  /** Returns true once everything that existed at the start was seen. Never becomes false again. */
  hasSynced(): boolean
  whenSynced(signal: AbortSignal): Promise<void>
  /** Returns the monotonic time of the last contact with the server, or undefined before the first. */
  lastContactMs(): number | undefined
  /** Called for each change, and at once for existing objects. Must not throw. */
  onChange(listener: (change: Change<T>) => void): Disposable
  /**
   * Records the server's answer to a write of this process if the watch has not delivered it yet,
   * so that a reader here always sees its own writes.
   */
  recordWrite(object: T): void
  /** Does the same for a delete that removed the object at once; `object` is the server's answer. */
  recordDelete(object: KubeObject): void
  /** Ends a pause after a failure: the server answers again. */
  retryNow(): void
  /** Lists and watches until the signal aborts. Rejects with its reason. */
  run(signal: AbortSignal): Promise<never>
}

const { watchMsMin } = clientBounds.informer

export function createInformer<T extends KubeObject>(
  client: ResourceClient<T>,
  options: InformerOptions<T>,
  deps: InformerDeps,
): Informer<T> {
  return new ListWatch(client, options, deps)
}

class ListWatch<T extends KubeObject> implements Informer<T> {
  readonly resource: ResourceRef
  readonly #client: ResourceClient<T>
  readonly #options: InformerOptions<T>
  readonly #deps: InformerDeps
  readonly #cache: ObjectCache<T>
  readonly #listeners = new Set<(change: Change<T>) => void>()
  readonly #backoff: Backoff
  readonly #again = createWakeFlag()
  readonly #synced = Promise.withResolvers<void>()
  #hasSynced = false
  #lastContactMs: number | undefined
  /** The cache contains everything up to this version. If undefined, list before watching. */
  #version: string | undefined
  #isPaged = true
  /**
   * True until the server refuses it: existing objects come one by one, before the events of the
   * same watch.
   */
  #usesWatchList = true

  constructor(client: ResourceClient<T>, options: InformerOptions<T>, deps: InformerDeps) {
    this.resource = client.resource
    this.#client = client
    this.#options = options
    this.#deps = deps
    this.#cache = new ObjectCache(options.indexes ?? {})
    this.#backoff = createBackoff(clientBounds.informer.retry, deps.random)
  }

  get(key: ObjectKey): T | undefined {
    return this.#cache.get(keyText(key))
  }

  list(namespace?: string): readonly T[] {
    return this.#cache.list(namespace)
  }

  byIndex(index: string, value: string): readonly T[] {
    return this.#cache.byIndex(index, value)
  }

  addIndex(name: string, of: IndexFunction<T>): void {
    this.#cache.addIndex(name, of)
  }

  hasSynced(): boolean {
    return this.#hasSynced
  }

  async whenSynced(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const aborted = Promise.withResolvers<never>()
    const onAbort = (): void => aborted.reject(abortReason(signal))
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      await Promise.race([this.#synced.promise, aborted.promise])
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  lastContactMs(): number | undefined {
    return this.#lastContactMs
  }

  onChange(listener: (change: Change<T>) => void): Disposable {
    this.#listeners.add(listener)
    for (const object of this.#cache.list()) listener({ type: 'added', object })
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  recordWrite(object: T): void {
    // A version that the watch has passed is in the cache already, or the object has been deleted
    // since.
    if (!this.#hasSynced || !this.#isAhead(object.metadata.resourceVersion)) return
    this.#emit(this.#cache.put(this.#kept(object)))
  }

  recordDelete(object: KubeObject): void {
    if (!this.#isAhead(object.metadata.resourceVersion)) return
    this.#cache.expectDelete(object)
    const key = keyOfObject(object)
    if (this.#cache.get(key)?.metadata.uid === object.metadata.uid) {
      this.#emit(this.#cache.remove(key))
    }
  }

  async run(signal: AbortSignal): Promise<never> {
    for (;;) {
      const startMs = this.#deps.clock.monotonicMs()
      let failure: unknown
      try {
        if (this.#version === undefined && !this.#usesWatchList) await this.#listAll(signal)
        await this.#watch(signal)
      } catch (error) {
        if (signal.aborted) throw abortReason(signal)
        if (this.#version === undefined && this.#usesWatchList && isRefusal(error)) {
          this.#usesWatchList = false
          continue
        }
        failure = error
        this.#onFailure(error)
      }
      const livedMs = this.#deps.clock.monotonicMs() - startMs
      if (livedMs >= clientLimits.watchGraceMs) this.#backoff.reset()
      if (failure === undefined && livedMs >= watchMsMin) continue
      await this.#pause(this.#delayMs(failure), signal)
    }
  }

  retryNow(): void {
    this.#again.raise()
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    this.#again.lower()
    using _timer = this.#deps.clock.setTimer(ms, this.#again.raise)
    await this.#again.wait(signal)
  }

  #delayMs(failure: unknown): number {
    const askedSeconds = failure instanceof StatusError ? failure.details?.retryAfterSeconds : 0
    return Math.max(this.#backoff.nextMs(), (askedSeconds ?? 0) * 1000)
  }

  #onFailure(error: unknown): void {
    const { resource } = this.#client.resource
    if (isStatusError(error, 'Expired') || isStatusError(error, 'Gone')) {
      this.#version = undefined
      this.#deps.log.debug('Watch expired', { resource })
      return
    }
    // The server rejects this version, e.g. one from an odd bookmark, so list again.
    if (isRefusal(error)) this.#version = undefined
    this.#deps.log.debug('Watch failed', {
      resource,
      error: asError(error),
    })
  }

  /** Keeps one page in memory at a time. Objects that the pages do not contain are gone from the server. */
  async #listAll(signal: AbortSignal): Promise<void> {
    const gone = new Set(this.#cache.keys())
    const request = { ...this.#scope(), ...(this.#isPaged ? {} : { pageObjectsMax: 0 }) }
    let version = ''
    try {
      for await (const page of this.#client.pages(request, signal)) {
        this.#onContact()
        version ||= page.metadata.resourceVersion ?? ''
        for (const object of page.items) {
          gone.delete(keyOfObject(object))
          this.#replace(object)
        }
      }
    } catch (error) {
      // Changes come faster than pages can be read, so next time ask for everything at once.
      if (isStatusError(error, 'Expired') || isStatusError(error, 'Gone')) this.#isPaged = false
      throw error
    }
    this.#isPaged = true
    this.#onAll(gone, version)
  }

  /** Runs when the cache contains everything of this version. `gone` lists what the server did not send. */
  #onAll(gone: ReadonlySet<string>, version: string): void {
    for (const key of gone) this.#removeIfOlder(key, version)
    this.#onSeen(version)
    this.#hasSynced = true
    this.#synced.resolve()
  }

  /** An object of the same name may have been deleted and created again while no watch was open. */
  #replace(object: T): void {
    const known = this.#cache.get(keyOfObject(object))
    if (known && known.metadata.uid !== object.metadata.uid) {
      if (isOlder(object, known)) return
      this.#emit(this.#cache.remove(keyOfObject(known)))
    }
    this.#emit(this.#cache.put(this.#kept(object)))
  }

  #removeIfOlder(key: string, listVersion: string): void {
    const known = this.#cache.get(key)?.metadata.resourceVersion ?? ''
    const isWrittenSince = (compareResourceVersions(known, listVersion) ?? 0) > 0
    if (!isWrittenSince) this.#emit(this.#cache.remove(key))
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const timeoutSeconds = Math.floor(clientLimits.watchSecondsMin * (1 + this.#deps.random.next()))
    const isWhole = this.#version === undefined
    const request = {
      ...this.#scope(),
      ...(isWhole ? { sendInitialEvents: true } : { resourceVersion: this.#version ?? '' }),
      timeoutSeconds,
    }
    // Existing objects come first, not ordered by version, so the watch cannot be resumed from any
    // of theirs.
    let gone = isWhole ? new Set(this.#cache.keys()) : undefined
    for await (const event of this.#client.watch(request, signal)) {
      this.#onContact()
      if (!gone) {
        this.#onEvent(event)
        if (event.type !== 'BOOKMARK') this.#onSeen(event.object.metadata.resourceVersion ?? '')
      } else if (event.type !== 'BOOKMARK') {
        gone.delete(keyOfObject(event.object))
        this.#onEvent(event)
      } else if (event.isInitialEventsEnd) {
        this.#onAll(gone, event.resourceVersion)
        gone = undefined
      }
      // A server in this process can deliver thousands without a pause.
      const turn = giveWay(this.#deps.clock)
      if (turn) await turn
    }
  }

  #onEvent(event: WatchEvent<T>): void {
    if (event.type === 'BOOKMARK') return this.#onSeen(event.resourceVersion)
    const { object } = event
    if (event.type === 'DELETED') {
      const known = this.#cache.get(keyOfObject(object))
      if (known?.metadata.uid === object.metadata.uid) {
        this.#emit(this.#cache.remove(keyOfObject(object)))
      }
    } else {
      this.#replace(object)
    }
  }

  #scope(): Selectors & { namespace?: string } {
    const { namespace, labelSelector, fieldSelector } = this.#options
    return {
      ...(namespace ? { namespace } : {}),
      ...(labelSelector ? { labelSelector } : {}),
      ...(fieldSelector ? { fieldSelector } : {}),
    }
  }

  #onContact(): void {
    this.#lastContactMs = this.#deps.clock.monotonicMs()
  }

  #onSeen(version: string): void {
    if (version === '') return
    this.#version = version
    this.#cache.forgetDeletes(version)
  }

  #isAhead(version: string | undefined): boolean {
    if (!version || this.#version === undefined) return false
    return (compareResourceVersions(version, this.#version) ?? 0) > 0
  }

  #kept(object: T): T {
    return deepFreeze((this.#options.transform ?? withoutManagedFields)(object))
  }

  #emit(change: Change<T> | undefined): void {
    if (!change) return
    for (const listener of this.#listeners) listener(change)
  }
}

/** Returns true for the error of servers without WatchList, or with it switched off. */
function isRefusal(error: unknown): boolean {
  return isStatusError(error, 'Invalid') || isStatusError(error, 'BadRequest')
}

function isOlder(object: KubeObject, than: KubeObject): boolean {
  const { resourceVersion = '' } = object.metadata
  return (compareResourceVersions(resourceVersion, than.metadata.resourceVersion ?? '') ?? 0) < 0
}

/** Managed fields are about half of a small object, and only the server needs them. */
function withoutManagedFields<T extends KubeObject>(object: T): T {
  if (!object.metadata.managedFields) return object
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const field of Object.values(value)) deepFreeze(field)
  return Object.freeze(value)
}
