import { linkedSignal, type LinkedSignal } from '@skerry/base'
import {
  createInformer,
  type DiscoveredResource,
  type Informer,
  type PartialObject,
  type ResourceRef,
} from '@skerry/client'
import type { ControllerDeps } from '@skerry/controller-runtime'

/** Counts objects of kinds that no other controller in this process watches. */
export interface ObjectCounts extends AsyncDisposable {
  /**
   * Follows exactly these names from now on. Calls `onChange` with the namespace in which one was
   * added or removed.
   */
  follow(names: ReadonlySet<string>, onChange: (namespace: string) => void): void
  /** Resolves to undefined if the server does not serve a resource of this name. */
  count(name: string, namespace: string, signal: AbortSignal): Promise<number | undefined>
}

interface Followed {
  readonly onChange: (namespace: string) => void
  /** Undefined until the server was asked what the name means. */
  watched?: Watched
}

interface Watched {
  readonly resource: DiscoveredResource
  readonly informer: Informer<PartialObject>
  readonly scope: LinkedSignal
  readonly running: Promise<void>
}

export function createObjectCounts(deps: ControllerDeps, signal: AbortSignal): ObjectCounts {
  return new MetadataCounts(deps, signal)
}

class MetadataCounts implements ObjectCounts {
  readonly #deps: ControllerDeps
  readonly #signal: AbortSignal
  readonly #followed = new Map<string, Followed>()
  readonly #ending = new Set<Promise<void>>()

  constructor(deps: ControllerDeps, signal: AbortSignal) {
    this.#deps = deps
    this.#signal = signal
  }

  follow(names: ReadonlySet<string>, onChange: (namespace: string) => void): void {
    for (const [name, { watched }] of this.#followed) {
      if (names.has(name)) continue
      this.#followed.delete(name)
      if (watched) this.#stop(watched)
    }
    for (const name of names) {
      if (!this.#followed.has(name)) this.#followed.set(name, { onChange })
    }
  }

  async count(name: string, namespace: string, signal: AbortSignal): Promise<number | undefined> {
    const { watched } = this.#followed.get(name) ?? {}
    if (watched?.informer.hasSynced()) return watched.informer.list(namespace).length
    const resource = watched?.resource ?? (await this.#servedAs(name, signal))
    if (!resource) return undefined
    // Following may have stopped or started meanwhile.
    const followed = this.#followed.get(name)
    if (followed && !followed.watched) followed.watched = this.#watch(resource, followed)
    return countOnServer(this.#deps, { resource, namespace }, signal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { watched } of this.#followed.values()) if (watched) this.#stop(watched)
    this.#followed.clear()
    await Promise.all(this.#ending)
  }

  #watch(resource: DiscoveredResource, { onChange }: Followed): Watched {
    const scope = linkedSignal(this.#signal)
    const client = this.#deps.cluster.metadata(resource)
    const informer = createInformer(client, { transform: kept }, this.#deps)
    informer.onChange(({ type, object }) => {
      if (type !== 'updated') onChange(object.metadata.namespace ?? '')
    })
    const running = informer.run(scope.signal).catch(() => undefined)
    return { resource, informer, scope, running }
  }

  #stop({ scope, running }: Watched): void {
    scope.abort(new Error('No quota counts this kind any more'))
    scope[Symbol.dispose]()
    const ending = running.finally(() => this.#ending.delete(ending))
    this.#ending.add(ending)
  }

  async #servedAs(name: string, signal: AbortSignal): Promise<DiscoveredResource | undefined> {
    const [resource, group] = partsOf(name)
    if (resource === undefined) return undefined
    const discovery = await this.#deps.cluster.discover(signal)
    return discovery.resources.find(
      (each) => each.resource === resource && each.group === group && each.isPreferred,
    )
  }
}

/** Kinds with a short name in quotas that no other controller here watches completely. */
const shortNames: ReadonlySet<string> = new Set(['configmaps', 'secrets'])

/** Returns true if a quota uses this name for a number of objects. */
export function isObjectCount(name: string): boolean {
  return partsOf(name)[0] !== undefined
}

function partsOf(name: string): [resource: string | undefined, group: string] {
  if (shortNames.has(name)) return [name, '']
  if (!name.startsWith('count/')) return [undefined, '']
  const [resource = '', ...group] = name.slice('count/'.length).split('.')
  return [resource, group.join('.')]
}

async function countOnServer(
  { cluster }: ControllerDeps,
  { resource, namespace }: { resource: ResourceRef; namespace: string },
  signal: AbortSignal,
): Promise<number> {
  let objects = 0
  for await (const page of cluster.metadata(resource).pages({ namespace }, signal)) {
    objects += page.items.length
  }
  return objects
}

/** Only the object's existence matters. */
function kept({ apiVersion, kind, metadata }: PartialObject): PartialObject {
  const { name = '', namespace = '', uid = '', resourceVersion = '' } = metadata
  return { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion } }
}
