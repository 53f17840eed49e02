import { linkedSignal, type LinkedSignal } from '@skerry/base'
import {
  createInformer,
  type Change,
  type DiscoveredResource,
  type Discovery,
  type Informer,
  type PartialObject,
  type ResourceRef,
} from '@skerry/client'
import type { ControllerDeps } from '@skerry/controller-runtime'
import { controllerBounds } from '../limits-table.ts'

const { syncPatienceMs } = controllerBounds.resourceMonitors

/** Events own nothing, have no owners, and are many. */
const ignoredResources: ReadonlySet<string> = new Set(['/events', 'events.k8s.io/events'])

export type MonitorListener = (change: Change<PartialObject>, resource: ResourceRef) => void

interface Monitor {
  resource: DiscoveredResource
  informer: Informer<PartialObject>
  scope: LinkedSignal
  startedMs: number
  /** Settles when the informer has ended. */
  running: Promise<void>
  subscription: Disposable
}

/** Follows the metadata of every object of every resource that can be listed, watched and deleted. */
export class ResourceMonitors implements AsyncDisposable {
  readonly #deps: ControllerDeps
  readonly #signal: AbortSignal
  readonly #listener: MonitorListener
  readonly #monitors = new Map<string, Monitor>()
  readonly #resourcesByKind = new Map<string, ResourceRef>()

  constructor(deps: ControllerDeps, listener: MonitorListener, signal: AbortSignal) {
    this.#deps = deps
    this.#listener = listener
    this.#signal = signal
  }

  /**
   * Starts monitors of new resources and stops those of removed ones. A group that did not answer
   * keeps its monitors.
   */
  update(discovery: Discovery): void {
    for (const resource of discovery.resources) {
      const apiVersion = resource.group ? `${resource.group}/${resource.version}` : resource.version
      this.#resourcesByKind.set(`${apiVersion} ${resource.kind}`, resource)
    }
    const wanted = monitoredResources(discovery)
    const stale = new Set(discovery.stale.map(({ group }) => group))
    for (const [name, monitor] of this.#monitors) {
      if (!wanted.has(name) && !stale.has(monitor.resource.group)) this.#stop(name, monitor)
    }
    for (const [name, resource] of wanted) {
      if (!this.#monitors.has(name)) this.#monitors.set(name, this.#start(resource))
    }
  }

  resourceOfKind(apiVersion: string, kind: string): ResourceRef | undefined {
    return this.#resourcesByKind.get(`${apiVersion} ${kind}`)
  }

  /** Returns true if the graph is complete; only then is an object without dependents known to have none. */
  hasSynced(): boolean {
    const nowMs = this.#deps.clock.monotonicMs()
    for (const { informer, startedMs } of this.#monitors.values()) {
      if (!informer.hasSynced() && nowMs - startedMs < syncPatienceMs) return false
    }
    return this.#monitors.size > 0
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const monitors = [...this.#monitors]
    for (const [name, monitor] of monitors) this.#stop(name, monitor)
    await Promise.all(monitors.map(([, { running }]) => running))
  }

  #start(resource: DiscoveredResource): Monitor {
    const scope = linkedSignal(this.#signal)
    const shared = this.#deps.informers.existing(resource)
    const informer = shared ?? this.#createInformer(resource)
    const running = shared ? Promise.resolve() : informer.run(scope.signal).catch(() => undefined)
    const subscription = informer.onChange((change) => this.#listener(change, resource))
    const startedMs = this.#deps.clock.monotonicMs()
    return { resource, informer, scope, startedMs, running, subscription }
  }

  #createInformer(resource: DiscoveredResource): Informer<PartialObject> {
    return createInformer(this.#deps.cluster.metadata(resource), { transform: kept }, this.#deps)
  }

  #stop(name: string, { scope, subscription }: Monitor): void {
    this.#monitors.delete(name)
    subscription[Symbol.dispose]()
    scope.abort(new Error('Resource is not served any more'))
    scope[Symbol.dispose]()
  }
}

/** Returns one version of each resource, because versions are views of the same objects. */
function monitoredResources(discovery: Discovery): Map<string, DiscoveredResource> {
  const chosen = new Map<string, DiscoveredResource>()
  for (const resource of discovery.resources) {
    const name = `${resource.group}/${resource.resource}`
    if (ignoredResources.has(name)) continue
    if (!['list', 'watch', 'delete'].every((verb) => resource.verbs.includes(verb))) continue
    if (resource.isPreferred || !chosen.has(name)) chosen.set(name, resource)
  }
  return chosen
}

/** Keeps only the metadata that the graph needs, to save memory. */
function kept({ apiVersion, kind, metadata }: PartialObject): PartialObject {
  const { uid, name, namespace, resourceVersion } = metadata
  const { ownerReferences, finalizers, deletionTimestamp } = metadata
  return {
    apiVersion,
    kind,
    metadata: {
      ...(uid ? { uid } : {}),
      ...(name ? { name } : {}),
      ...(namespace ? { namespace } : {}),
      ...(resourceVersion ? { resourceVersion } : {}),
      ...(ownerReferences ? { ownerReferences } : {}),
      ...(finalizers ? { finalizers } : {}),
      ...(deletionTimestamp ? { deletionTimestamp } : {}),
    },
  }
}
