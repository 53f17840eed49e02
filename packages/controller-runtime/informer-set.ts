import { abortReason, type Clock, type Logger, type Random } from '@skerry/base'
import type { KubeObject } from '@skerry/api'
import {
  createInformer,
  type ClusterClient,
  type Informer,
  type ResourceClient,
  type ResourceRef,
  type TypedResource,
} from '@skerry/client'
import { selectorsOf } from './selected-resource.ts'

export interface InformerSetDeps {
  clock: Clock
  random: Random
  log: Logger
}

/**
 * The informers of one process: one list and watch for each resource, shared by all readers. A
 * write through `client` is in the informer when it resolves, so that no reader here sees the state
 * from before its own writes.
 */
export interface InformerSet {
  /**
   * Returns the informer of all namespaces and all objects, except for a selected() resource. If
   * first called while running, it starts then.
   */
  informer<T extends KubeObject>(resource: TypedResource<T>): Informer<T>
  /** Returns an existing informer; only the metadata of its objects is typed. */
  existing(resource: ResourceRef): Informer<KubeObject> | undefined
  /**
   * Returns a client whose writes go to the server and into the informer, if the resource has one.
   * `as` sends requests as another user than the informers'.
   */
  client<T extends KubeObject>(resource: TypedResource<T>, as?: ClusterClient): ResourceClient<T>
  /** Resolves when every informer requested so far has synced. */
  whenSynced(signal: AbortSignal): Promise<void>
  /** Resolves when the signal aborts and all informers have ended. */
  run(signal: AbortSignal): Promise<void>
}

export function createInformerSet(cluster: ClusterClient, deps: InformerSetDeps): InformerSet {
  return new SharedInformers(cluster, deps)
}

class SharedInformers implements InformerSet {
  readonly #cluster: ClusterClient
  readonly #deps: InformerSetDeps
  readonly #informers = new Map<string, Informer<KubeObject>>()
  readonly #running = new Set<Promise<void>>()
  readonly #failed = Promise.withResolvers<never>()
  #signal: AbortSignal | undefined

  constructor(cluster: ClusterClient, deps: InformerSetDeps) {
    this.#cluster = cluster
    this.#deps = deps
  }

  informer<T extends KubeObject>(resource: TypedResource<T>): Informer<T> {
    const key = nameOf(resource)
    const known = this.#informers.get(key)
    // The entry was created below for the same resource, and a resource has one type of objects.
    if (known) return known as unknown as Informer<T>
    const informer = createInformer(
      this.#cluster.resource(resource),
      selectorsOf(resource),
      this.#deps,
    )
    this.#informers.set(key, informer as unknown as Informer<KubeObject>)
    if (this.#signal) this.#start(informer, this.#signal)
    return informer
  }

  existing(resource: ResourceRef): Informer<KubeObject> | undefined {
    return this.#informers.get(nameOf(resource))
  }

  client<T extends KubeObject>(
    resource: TypedResource<T>,
    as: ClusterClient = this.#cluster,
  ): ResourceClient<T> {
    const client = as.resource(resource)
    const key = nameOf(resource)
    return recordingClient(client, () =>
      this.#informers.has(key) ? this.informer(resource) : undefined,
    )
  }

  async whenSynced(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.#informers.values()].map((each) => each.whenSynced(signal)))
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal
    for (const informer of this.#informers.values()) this.#start(informer, signal)
    const aborted = Promise.withResolvers<void>()
    const onAbort = (): void => aborted.resolve()
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      await Promise.race([aborted.promise, this.#failed.promise])
    } finally {
      signal.removeEventListener('abort', onAbort)
      this.#signal = undefined
    }
    await Promise.all(this.#running)
    throw abortReason(signal)
  }

  #start<T extends KubeObject>(informer: Informer<T>, signal: AbortSignal): void {
    const running: Promise<void> = informer
      .run(signal)
      .catch((error: unknown) => {
        if (!signal.aborted) this.#failed.reject(error)
      })
      .finally(() => this.#running.delete(running))
    this.#running.add(running)
  }
}

function nameOf(resource: ResourceRef): string {
  const { labelSelector = '', fieldSelector = '', namespace = '' } = selectorsOf(resource)
  const suffix = labelSelector || fieldSelector ? `?${labelSelector}&${fieldSelector}` : ''
  return `${resource.group}/${resource.version}/${namespace}/${resource.resource}${suffix}`
}

/** Writes of the status and other subresources also return the whole object, so all are recorded. */
function recordingClient<T extends KubeObject>(
  client: ResourceClient<T>,
  informer: () => Informer<T> | undefined,
): ResourceClient<T> {
  const record = async (answer: Promise<T>): Promise<T> => {
    const object = await answer
    informer()?.recordWrite(object)
    return object
  }
  return {
    ...client,
    create: (object, signal, options) => {
      const answer = client.create(object, signal, options)
      return options?.isDryRun ? answer : record(answer)
    },
    update: (object, signal, options) => record(client.update(object, signal, options)),
    updateStatus: (object, signal, options) => record(client.updateStatus(object, signal, options)),
    patch: (request, signal) => record(client.patch(request, signal)),
    patchStatus: (request, signal) => record(client.patchStatus(request, signal)),
    async delete(request, signal) {
      const answer = await client.delete(request, signal)
      const known = informer()?.get(request)
      if (known && answer.metadata.uid === known.metadata.uid) {
        // It has the same uid as the object in this resource's informer, so it has that type.
        recordDeletion(answer as unknown as T, informer())
      }
      return answer
    },
  }
}

/** An object with a grace period or finalizers still exists and is only marked; any other is gone. */
function recordDeletion<T extends KubeObject>(answer: T, informer: Informer<T> | undefined): void {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = answer.metadata
  const isStillThere =
    deletionTimestamp !== undefined && (deletionGracePeriodSeconds > 0 || finalizers.length > 0)
  if (isStillThere) informer?.recordWrite(answer)
  else informer?.recordDelete(answer)
}
