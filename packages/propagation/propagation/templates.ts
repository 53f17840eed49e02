import { StatusError, isStatusError, type AnyObject } from '@skerry/api'
import { withTimeout, type Clock } from '@skerry/base'
import type {
  Change,
  ClusterClient,
  Informer,
  ObjectKey,
  ResourceClient,
  ResourceRef,
  TypedResource,
} from '@skerry/client'
import type { InformerSet } from '@skerry/controller-runtime'
import { claimOf } from './claim.ts'
import { propagationBounds } from '../limits-table.ts'

export interface TemplateKind {
  readonly apiVersion: string
  readonly kind: string
}

/** Names one object of the hub that is, or may be, propagated. */
export interface TemplateRef extends TemplateKind {
  readonly namespace?: string
  readonly name: string
}

export interface TemplatesDeps {
  readonly cluster: ClusterClient
  readonly informers: InformerSet
  readonly clock: Pick<Clock, 'monotonicMs' | 'setTimer'>
}

interface WatchedKind {
  readonly kind: TemplateKind
  readonly informer: Informer<AnyObject>
}

/** An initial object existed when the watch of its kind started. */
export type TemplateListener = (key: string, change: Change<AnyObject>, isInitial: boolean) => void

const byClaim = 'claim'

const { discoveryMs, syncMs } = propagationBounds.templates

/** Formats `apps/v1 Deployment shop/web`. */
export function templateKey({ apiVersion, kind, namespace = '', name }: TemplateRef): string {
  return `${apiVersion} ${kind} ${namespace}/${name}`
}

/** Parses a key that `templateKey` made. */
export function parseTemplateKey(key: string): TemplateRef {
  const [apiVersion = '', kind = '', object = ''] = key.split(' ')
  const slash = object.indexOf('/')
  const namespace = object.slice(0, slash)
  const name = object.slice(slash + 1)
  return { apiVersion, kind, name, ...(namespace ? { namespace } : {}) }
}

export function templateRef({ apiVersion, kind, metadata }: AnyObject): TemplateRef {
  const { namespace, name = '' } = metadata
  return { apiVersion, kind, name, ...(namespace ? { namespace } : {}) }
}

/**
 * Holds the hub's own objects of the kinds that were requested: each kind is watched from its first request
 * on. All callers share one copy of each object.
 */
export class Templates {
  readonly #deps: TemplatesDeps
  readonly #watched = new Map<string, WatchedKind>()
  readonly #listeners = new Set<TemplateListener>()
  #kinds: { readonly byKind: ReadonlyMap<string, ResourceRef>; readonly atMs: number } | undefined

  constructor(deps: TemplatesDeps) {
    this.#deps = deps
  }

  /** Calls the listener for each change of a watched kind, and at once for the objects already known. */
  onChange(listener: TemplateListener): Disposable {
    this.#listeners.add(listener)
    for (const { kind } of this.#watched.values()) {
      for (const object of this.list(kind)) {
        listener(templateKey(templateRef(object)), { type: 'added', object }, true)
      }
    }
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  /**
   * Resolves true when all objects of the kind are known, and false if the hub has no such kind. Rejects if
   * they cannot be read within `syncMs`; the watch continues.
   */
  async watch(kind: TemplateKind, signal: AbortSignal): Promise<boolean> {
    const resource = await this.#find(kind, signal)
    if (resource === undefined) return this.#watched.has(kindText(kind))
    const { informer } = this.#watched.get(kindText(kind)) ?? this.#follow(kind, resource)
    const message = `Cannot read all objects of kind "${kind.kind}" in ${syncMs} ms`
    const { clock } = this.#deps
    await withTimeout({ ms: syncMs, message, clock }, signal, (scope) => informer.whenSynced(scope))
    return true
  }

  /** Lists a watched kind, in all namespaces or one; returns an empty list for other kinds. */
  list(kind: TemplateKind, namespace?: string): readonly AnyObject[] {
    const objects = this.#watched.get(kindText(kind))?.informer.list(namespace) ?? []
    return objects.map((object) => withKind(object, kind))
  }

  /** Lists the objects of all watched kinds that record a claim by the policy of this id. */
  claimedBy(id: string): AnyObject[] {
    return [...this.#watched.values()].flatMap(({ kind, informer }) =>
      informer.byIndex(byClaim, id).map((object) => withKind(object, kind)),
    )
  }

  /** Returns the object as last seen; undefined also if its kind is not watched. */
  known(ref: TemplateRef): AnyObject | undefined {
    const known = this.#watched.get(kindText(ref))?.informer.get(keyOf(ref))
    return known && withKind(known, ref)
  }

  /** Resolves undefined if the object or its kind does not exist. */
  async get(ref: TemplateRef, signal: AbortSignal): Promise<AnyObject | undefined> {
    const known = this.known(ref)
    if (known) return known
    try {
      const found = await (await this.client(ref, signal)).get(keyOf(ref), signal)
      // A reference with a namespace to a kind that has none finds an object of the whole cluster.
      return found.metadata.namespace === ref.namespace ? found : undefined
    } catch (error) {
      if (isStatusError(error, 'NotFound')) return undefined
      throw error
    }
  }

  /** False also while its server does not answer. */
  async serves(kind: TemplateKind, signal: AbortSignal): Promise<boolean> {
    return (await this.#find(kind, signal)) !== undefined
  }

  /** Rejects with StatusError NotFound if the hub has no such kind. */
  async client(kind: TemplateKind, signal: AbortSignal): Promise<ResourceClient<AnyObject>> {
    const found = await this.#find(kind, signal)
    if (found) return this.#deps.informers.client(found)
    const why = `no matches for kind "${kind.kind}" in version "${kind.apiVersion}"`
    throw new StatusError('NotFound', why)
  }

  #follow(kind: TemplateKind, resource: TypedResource<AnyObject>): WatchedKind {
    const informer = this.#deps.informers.informer(resource)
    const watched = { kind: plainKind(kind), informer }
    this.#watched.set(kindText(kind), watched)
    informer.addIndex(byClaim, (object) => claimIds(object))
    let isNew = true
    informer.onChange((change) => this.#tell(kind, change, isNew || !informer.hasSynced()))
    isNew = false
    return watched
  }

  #tell(kind: TemplateKind, change: Change<AnyObject>, isInitial: boolean): void {
    const key = templateKey(templateRef(withKind(change.object, kind)))
    for (const listener of this.#listeners) listener(key, change, isInitial)
  }

  async #find(
    kind: TemplateKind,
    signal: AbortSignal,
  ): Promise<TypedResource<AnyObject> | undefined> {
    const known = this.#kinds?.byKind.get(kindText(kind))
    if (known) return known
    const nowMs = this.#deps.clock.monotonicMs()
    if (this.#kinds === undefined || nowMs - this.#kinds.atMs >= discoveryMs) {
      this.#kinds = { byKind: await this.#discover(signal), atMs: nowMs }
    }
    return this.#kinds.byKind.get(kindText(kind))
  }

  async #discover(signal: AbortSignal): Promise<ReadonlyMap<string, ResourceRef>> {
    const { resources } = await this.#deps.cluster.discover(signal)
    const byKind = new Map<string, ResourceRef>()
    for (const { group, version, resource, isNamespaced, kind, verbs } of resources) {
      if (!verbs.includes('watch') || !verbs.includes('update')) continue
      const apiVersion = group === '' ? version : `${group}/${version}`
      byKind.set(kindText({ apiVersion, kind }), { group, version, resource, isNamespaced })
    }
    return byKind
  }
}

function claimIds(object: AnyObject): string[] {
  const claim = claimOf(object)
  return claim ? [claim.id] : []
}

function plainKind({ apiVersion, kind }: TemplateKind): TemplateKind {
  return { apiVersion, kind }
}

function kindText({ apiVersion, kind }: TemplateKind): string {
  return `${apiVersion} ${kind}`
}

/** Fills in the kind, which objects of a list lack. */
function withKind(object: AnyObject, { apiVersion, kind }: TemplateKind): AnyObject {
  if (object.apiVersion === apiVersion && object.kind === kind) return object
  return { ...object, apiVersion, kind }
}

function keyOf({ namespace, name }: TemplateRef): ObjectKey {
  return { name, ...(namespace ? { namespace } : {}) }
}
