import { asError, type Clock, type Logger, type Random } from '@skerry/base'
import { StatusError, isStatusError, type KubeObject } from '@skerry/api'
import { createInformer, resources, type ClusterClient, type ResourceClient } from '@skerry/client'
import { TaskGroup } from '../task-group.ts'
import type { ObjectDisk } from './object-disk.ts'
import { referenceKey, type Reference, type ReferenceKind } from './objects-to-read.ts'
import { referenceDefaults } from '../limits-table.ts'

export interface ReferencedObjectsDeps {
  cluster: ClusterClient
  clock: Clock
  random: Random
  log: Logger
  disk: ObjectDisk
}

interface Entry {
  reference: Reference
  /** True if it was requested from the API, or is known from disk. */
  isKnown: boolean
  object: KubeObject | undefined
  waiting: (() => void)[]
  /** The keys of the pods that name it. */
  holders: Set<string>
  isWatched: boolean
}

/**
 * The objects that pods of this node name, each followed on its own: a node may see only those.
 * Claims and volumes can only be read (a node may not watch them), so they are polled.
 */
export class ReferencedObjects {
  readonly #deps: ReferencedObjectsDeps
  readonly #entries = new Map<string, Entry>()
  readonly #tasks: TaskGroup
  readonly #onChange: (holders: ReadonlySet<string>) => void

  constructor(
    deps: ReferencedObjectsDeps,
    onChange: (holders: ReadonlySet<string>) => void,
    signal: AbortSignal,
  ) {
    this.#deps = deps
    this.#onChange = onChange
    this.#tasks = new TaskGroup(signal, (name, error) => {
      deps.log.error('Cannot follow object', { name, error: asError(error) })
    })
  }

  /** Loads the disk's objects of an earlier run, so that pods start without the API. */
  async load(): Promise<void> {
    for (const kind of kinds) {
      for (const [key, object] of await this.#deps.disk.load(kind)) {
        const [namespace = '', name = ''] = key.split('/')
        const entry = this.#entryOf({ kind, namespace, name })
        entry.object = object
        entry.isKnown = true
      }
    }
  }

  get(reference: Reference): KubeObject | undefined {
    return this.#entries.get(referenceKey(reference))?.object
  }

  /** Watches exactly these for the holder; an object without holders is dropped. */
  hold(holder: string, references: readonly Reference[]): void {
    const wanted = new Set(references.map(referenceKey))
    for (const reference of references) {
      const entry = this.#entryOf(reference)
      entry.holders.add(holder)
      this.#follow(entry)
    }
    for (const [key, entry] of this.#entries) {
      if (wanted.has(key) || !entry.holders.delete(holder) || entry.holders.size > 0) continue
      this.#drop(key, entry)
    }
  }

  release(holder: string): void {
    this.hold(holder, [])
  }

  /** Drops objects that were loaded from disk and that no pod names. */
  dropUnheld(): void {
    for (const [key, entry] of this.#entries) if (entry.holders.size === 0) this.#drop(key, entry)
  }

  /** Resolves when each was looked up once. */
  async whenKnown(references: readonly Reference[], signal: AbortSignal): Promise<void> {
    for (const reference of references) {
      const entry = this.#entryOf(reference)
      if (entry.isKnown) continue
      const known = Promise.withResolvers<void>()
      const onAbort = (): void => known.reject(signal.reason)
      entry.waiting.push(known.resolve)
      signal.addEventListener('abort', onAbort, { once: true })
      signal.throwIfAborted()
      await known.promise
      signal.removeEventListener('abort', onAbort)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#tasks[Symbol.asyncDispose]()
  }

  #entryOf(reference: Reference): Entry {
    const key = referenceKey(reference)
    const found = this.#entries.get(key)
    if (found) return found
    const entry: Entry = {
      reference,
      isKnown: false,
      object: undefined,
      waiting: [],
      holders: new Set(),
      isWatched: false,
    }
    this.#entries.set(key, entry)
    return entry
  }

  #drop(key: string, entry: Entry): void {
    this.#entries.delete(key)
    this.#tasks.cancel(key)
    this.#deps.disk.remove(diskEntry(entry.reference))
  }

  #follow(entry: Entry): void {
    const key = referenceKey(entry.reference)
    if (this.#tasks.has(key)) return
    const watchedCount = [...this.#entries.values()].filter(({ isWatched }) => isWatched).length
    const { isWatchable } = kindTable[entry.reference.kind]
    entry.isWatched = isWatchable && watchedCount < referenceDefaults.watchedMax
    this.#tasks.add(key, (scope) =>
      entry.isWatched ? this.#watch(entry, scope) : this.#poll(entry, scope),
    )
  }

  async #watch(entry: Entry, signal: AbortSignal): Promise<void> {
    const { namespace, name } = entry.reference
    const fieldSelector = `metadata.name=${name}`
    const client = clientOf(this.#deps.cluster, entry.reference.kind)
    const informer = createInformer(client, { namespace, fieldSelector }, this.#deps)
    using _listening = informer.onChange(({ type, object }) => {
      this.#set(entry, type === 'deleted' ? undefined : object)
    })
    const onSynced = async (): Promise<void> => {
      await informer.whenSynced(signal)
      if (!entry.isKnown || informer.list().length === 0) this.#set(entry, informer.list()[0])
    }
    await Promise.all([informer.run(signal), onSynced()])
  }

  async #poll(entry: Entry, signal: AbortSignal): Promise<void> {
    const { namespace, name, kind } = entry.reference
    const key = { name, ...(namespace ? { namespace } : {}) }
    while (!signal.aborted) {
      let delayMs: number = referenceDefaults.retryMs
      try {
        this.#set(entry, await clientOf(this.#deps.cluster, kind).get(key, signal))
        delayMs = isSettled(entry) ? referenceDefaults.pollMs : referenceDefaults.pollMissingMs
      } catch (error) {
        signal.throwIfAborted()
        // A refusal may come just before the server learns that the pod is on this node.
        if (isStatusError(error, 'NotFound') || isStatusError(error, 'Forbidden')) {
          this.#set(entry, undefined)
          delayMs = referenceDefaults.pollMissingMs
        } else if (!(error instanceof StatusError)) {
          this.#deps.log.debug('Cannot read object', { name, error: asError(error) })
        }
      }
      await this.#deps.clock.sleep(delayMs, signal)
    }
  }

  #set(entry: Entry, object: KubeObject | undefined): void {
    const isSame =
      entry.isKnown &&
      entry.object?.metadata.resourceVersion === object?.metadata.resourceVersion &&
      entry.object?.metadata.uid === object?.metadata.uid
    entry.object = object
    entry.isKnown = true
    for (const resolve of entry.waiting.splice(0)) resolve()
    if (isSame) return
    if (object) this.#deps.disk.put(diskEntry(entry.reference), object)
    else this.#deps.disk.remove(diskEntry(entry.reference))
    this.#onChange(entry.holders)
  }
}

interface KindEntry {
  clientOf: (cluster: ClusterClient) => ResourceClient<KubeObject>
  isWatchable: boolean
}

/** A client of a kind reads as a client of any object: only common fields are looked at here. */
const kindTable: Readonly<Record<ReferenceKind, KindEntry>> = Object.freeze({
  configMaps: {
    clientOf: (cluster) => cluster.resource<KubeObject>(untyped(resources.configMaps)),
    isWatchable: true,
  },
  secrets: {
    clientOf: (cluster) => cluster.resource<KubeObject>(untyped(resources.secrets)),
    isWatchable: true,
  },
  persistentVolumeClaims: {
    clientOf: (cluster) => cluster.resource<KubeObject>(untyped(resources.persistentVolumeClaims)),
    isWatchable: false,
  },
  persistentVolumes: {
    clientOf: (cluster) => cluster.resource<KubeObject>(untyped(resources.persistentVolumes)),
    isWatchable: false,
  },
})

const kinds: readonly ReferenceKind[] = [
  'configMaps',
  'secrets',
  'persistentVolumeClaims',
  'persistentVolumes',
]

type Address = Pick<
  (typeof resources)['secrets'],
  'group' | 'version' | 'resource' | 'isNamespaced'
>

function untyped({ group, version, resource, isNamespaced }: Address): Address {
  return { group, version, resource, isNamespaced }
}

function clientOf(cluster: ClusterClient, kind: ReferenceKind): ResourceClient<KubeObject> {
  return kindTable[kind].clientOf(cluster)
}

function diskEntry({ kind, namespace, name }: Reference): { resource: string; key: string } {
  return { resource: kind, key: `${namespace}/${name}` }
}

/** A claim is asked for often until it is bound. */
function isSettled({ reference, object }: Entry): boolean {
  if (!object) return false
  if (reference.kind !== 'persistentVolumeClaims') return true
  // Read through the client of claims.
  return (object as { status?: { phase?: string } }).status?.phase === 'Bound'
}
