import { StatusError, isStatusError, type AnyObject, type KubeObject } from '@skerry/api'
import type { Clock, Logger, Random } from '@skerry/base'
import type { ClusterClient, Informer, ObjectKey, ResourceRef, TypedResource } from '@skerry/client'
import { createInformerSet, selected, type InformerSet } from '@skerry/controller-runtime'
import { karmadaKeys } from '@skerry/karmada-kinds'
import { clusterAgentBounds } from '../limits-table.ts'

export interface MemberClusterDeps {
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

const { discoveryMs } = clusterAgentBounds.memberCluster

interface KnownKinds {
  readonly byKind: ReadonlyMap<string, ResourceRef>
  /** Versions whose kinds are unknown because their server does not answer: `metrics.k8s.io/v1beta1`. */
  readonly silent: ReadonlySet<string>
  readonly atMs: number
}

/** Formats `apps/v1 Deployment shop/web`: one object of the cluster, in the requested version. */
export function memberKey({ apiVersion, kind, metadata }: KubeObject): string {
  return `${apiVersion} ${kind} ${metadata.namespace ?? ''}/${metadata.name ?? ''}`
}

/**
 * The cluster to which Works are applied. Each requested kind is watched from then on, limited to Karmada's
 * objects; other objects are read only when a manifest names them.
 */
export class MemberCluster {
  readonly #cluster: ClusterClient
  readonly #deps: MemberClusterDeps
  readonly #informers: InformerSet
  readonly #watched = new Map<string, TypedResource<AnyObject>>()
  readonly #listeners = new Set<(key: string) => void>()
  /** The last patch of each object that is on its way; never rejects. */
  readonly #patches = new Map<string, Promise<void>>()
  #kinds: KnownKinds | undefined

  constructor(cluster: ClusterClient, deps: MemberClusterDeps) {
    this.#cluster = cluster
    this.#deps = deps
    this.#informers = createInformerSet(cluster, deps)
  }

  /** Runs until the signal aborts; rejects with its reason. */
  run(signal: AbortSignal): Promise<void> {
    return this.#informers.run(signal)
  }

  /** Calls the listener with the key of each object that appeared, changed or disappeared. */
  onChange(listener: (key: string) => void): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  /** Resolves with the cluster's present object of this kind and name. */
  async observe(object: AnyObject, signal: AbortSignal): Promise<AnyObject | undefined> {
    const resource = await this.#resourceOf(object, signal)
    const known = this.#informer(object, resource).get(keyOf(object))
    return known ?? (await this.read(object, signal))
  }

  /** The same, from the cluster itself. */
  async read(object: AnyObject, signal: AbortSignal): Promise<AnyObject | undefined> {
    const resource = await this.#resourceOf(object, signal)
    try {
      return await this.#cluster.resource(resource).get(keyOf(object), signal)
    } catch (error) {
      if (isStatusError(error, 'NotFound')) return undefined
      throw error
    }
  }

  async create(object: AnyObject, signal: AbortSignal): Promise<AnyObject> {
    return this.#client(await this.#resourceOf(object, signal)).create(object, signal)
  }

  async update(object: AnyObject, signal: AbortSignal): Promise<AnyObject> {
    return this.#client(await this.#resourceOf(object, signal)).update(object, signal)
  }

  /** Patches one object at a time, because a server gives up a patch that others keep overtaking. */
  async mergePatch(object: AnyObject, patch: unknown, signal: AbortSignal): Promise<AnyObject> {
    const client = this.#client(await this.#resourceOf(object, signal))
    const key = memberKey(object)
    const before = this.#patches.get(key)
    const own = (async () => {
      await before
      return client.patch({ ...keyOf(object), type: 'merge', patch }, signal)
    })()
    const ended = own.then(none, none)
    this.#patches.set(key, ended)
    try {
      return await own
    } finally {
      if (this.#patches.get(key) === ended) this.#patches.delete(key)
    }
  }

  /** Deletes in the background, even Jobs, which would otherwise leave their pods. Ignores a missing object. */
  async delete(object: AnyObject, signal: AbortSignal): Promise<void> {
    const { uid } = object.metadata
    const client = this.#client(await this.#resourceOf(object, signal))
    const preconditions = uid === undefined ? {} : { preconditions: { uid } }
    try {
      await client.delete(
        { ...keyOf(object), propagationPolicy: 'Background', ...preconditions },
        signal,
      )
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error
    }
  }

  /** The resource by its plural name, as an identifier has it. */
  async resourceName(object: AnyObject, signal: AbortSignal): Promise<string> {
    return (await this.#resourceOf(object, signal)).resource
  }

  #client(resource: TypedResource<AnyObject>) {
    return this.#informers.client(resource)
  }

  #informer(object: AnyObject, resource: TypedResource<AnyObject>): Informer<AnyObject> {
    const informer = this.#informers.informer(resource)
    const { apiVersion, kind } = object
    if (this.#watched.has(kindOf(object))) return informer
    this.#watched.set(kindOf(object), resource)
    informer.onChange(({ object: { metadata } }) => {
      const key = memberKey({ apiVersion, kind, metadata })
      for (const listener of this.#listeners) listener(key)
    })
    return informer
  }

  async #resourceOf(object: AnyObject, signal: AbortSignal): Promise<TypedResource<AnyObject>> {
    const known = this.#watched.get(kindOf(object))
    const ref = known ?? (await this.#find(object, signal))
    const namespaced = ref.isNamespaced ? 'a namespace' : 'no namespace'
    if (ref.isNamespaced !== Boolean(object.metadata.namespace)) {
      throw new StatusError(
        'NotFound',
        `Cannot place ${object.kind} "${object.metadata.name ?? ''}": objects of its kind have ${namespaced}`,
      )
    }
    return known ?? selected(ref, { labelSelector: `${karmadaKeys.managed}=true` })
  }

  async #find(object: AnyObject, signal: AbortSignal): Promise<ResourceRef> {
    const { clock } = this.#deps
    const nowMs = clock.monotonicMs()
    const known = this.#kinds?.byKind.get(kindOf(object))
    if (known) return known
    if (this.#kinds === undefined || nowMs - this.#kinds.atMs >= discoveryMs) {
      this.#kinds = { ...(await this.#discover(signal)), atMs: nowMs }
    }
    const { byKind, silent } = this.#kinds
    const found = byKind.get(kindOf(object))
    if (found) return found
    const { kind, apiVersion } = object
    // NotFound would let a deleted Work leave its object behind, as one of a kind that no longer exists.
    if (silent.has(apiVersion)) {
      const why = `Cannot find kind "${kind}": the server of ${apiVersion} does not answer`
      throw new StatusError('ServiceUnavailable', why)
    }
    throw new StatusError('NotFound', `no matches for kind "${kind}" in version "${apiVersion}"`)
  }

  async #discover(signal: AbortSignal): Promise<Omit<KnownKinds, 'atMs'>> {
    const { resources, stale } = await this.#cluster.discover(signal)
    const byKind = new Map<string, ResourceRef>()
    for (const { group, version, resource, isNamespaced, kind, verbs } of resources) {
      const ref = { group, version, resource, isNamespaced }
      const apiVersion = apiVersionOf(ref)
      if (verbs.includes('create')) byKind.set(kindOf({ apiVersion, kind }), ref)
    }
    return { byKind, silent: new Set(stale.map(apiVersionOf)) }
  }
}

function none(): void {}

function apiVersionOf({ group, version }: Pick<ResourceRef, 'group' | 'version'>): string {
  return group === '' ? version : `${group}/${version}`
}

function kindOf({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): string {
  return `${apiVersion} ${kind}`
}

function keyOf({ metadata }: AnyObject): ObjectKey {
  const { namespace, name = '' } = metadata
  return { name, ...(namespace ? { namespace } : {}) }
}
