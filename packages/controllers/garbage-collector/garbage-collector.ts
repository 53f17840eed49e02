import { abortReason, logFailure, runAll, type Logger } from '@skerry/base'
import { isStatusError, type OwnerReference } from '@skerry/api'
import { type ObjectKey, type PartialObject, type ResourceRef } from '@skerry/client'
import {
  WorkQueue,
  type BackgroundController,
  type ControllerDeps,
} from '@skerry/controller-runtime'
import { ignoreNotFound } from '../reconcile/ignore-not-found.ts'
import { AbsentOwners } from './absent-owners.ts'
import {
  planCollection,
  type CollectionPlan,
  type OwnerState,
  unseenOwner,
} from './collection-plan.ts'
import {
  OwnerGraph,
  foregroundFinalizer,
  isDeletingDependents,
  isOrphaning,
  nodeOf,
  orphanFinalizer,
  type GraphNode,
} from './owner-graph.ts'
import { ResourceMonitors } from './resource-monitors.ts'
import { controllerBounds } from '../limits-table.ts'

const { discoverEveryMs, syncPollMs, workers } = controllerBounds.garbageCollector

/** Deletes objects that have lost their last owner, and executes foreground and orphaning deletions. */
export const garbageCollector: BackgroundController = {
  name: 'garbage-collector-controller',
  run: (deps, signal) => new GarbageCollector(deps).run(signal),
}

/** A cluster-scoped object names a namespaced owner, which no retry will find. */
class InvalidOwnerError extends Error {
  override name = 'InvalidOwnerError'
}

class GarbageCollector {
  readonly #deps: ControllerDeps
  readonly #log: Logger
  readonly #graph = new OwnerGraph()
  readonly #queue: WorkQueue
  readonly #absent = new AbsentOwners()
  #discoverSoon: (() => void) | undefined

  constructor(deps: ControllerDeps) {
    this.#deps = deps
    this.#log = deps.log.child({ controller: garbageCollector.name })
    this.#queue = new WorkQueue({ name: garbageCollector.name }, deps)
  }

  async run(signal: AbortSignal): Promise<void> {
    await using monitors = new ResourceMonitors(
      this.#deps,
      (change, resource) => this.#onChange(change, resource),
      signal,
    )
    try {
      await runAll(signal, [
        (scope) => this.#discover(monitors, scope),
        ...Array.from(
          { length: workers },
          () => (scope: AbortSignal) => this.#work(monitors, scope),
        ),
      ])
    } finally {
      this.#queue.close()
    }
    throw abortReason(signal)
  }

  #onChange(change: { type: string; object: PartialObject }, resource: ResourceRef): void {
    const affected =
      change.type === 'deleted'
        ? this.#graph.remove(change.object.metadata.uid ?? '')
        : this.#graph.put(nodeOf(change.object, resource))
    for (const uid of affected) this.#queue.add(uid)
    if (resource.resource === 'customresourcedefinitions') this.#discoverSoon?.()
  }

  async #discover(monitors: ResourceMonitors, signal: AbortSignal): Promise<never> {
    for (;;) {
      try {
        monitors.update(await this.#deps.cluster.discover(signal))
      } catch (error) {
        if (signal.aborted) throw abortReason(signal)
        logFailure(this.#log, {
          subject: 'Discovery',
          message: 'Discovery failed',
          level: 'debug',
          error,
        })
      }
      await this.#untilNextDiscovery(signal)
    }
  }

  /** A new CRD shortens the wait; one second gathers several of them and lets the server establish them. */
  async #untilNextDiscovery(signal: AbortSignal): Promise<void> {
    const soon = Promise.withResolvers<void>()
    this.#discoverSoon = soon.resolve
    using _timer = this.#deps.clock.setTimer(discoverEveryMs, soon.resolve)
    const onAbort = (): void => soon.reject(abortReason(signal))
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      await soon.promise
    } finally {
      signal.removeEventListener('abort', onAbort)
      this.#discoverSoon = undefined
    }
    await this.#deps.clock.sleep(controllerBounds.garbageCollector.discoveryPauseMs, signal)
  }

  async #work(monitors: ResourceMonitors, signal: AbortSignal): Promise<never> {
    for (;;) {
      const uid = await this.#queue.take(signal)
      try {
        while (!monitors.hasSynced()) await this.#deps.clock.sleep(syncPollMs, signal)
        await this.#collect(uid, monitors, signal)
        this.#queue.forget(uid)
      } catch (error) {
        if (signal.aborted) throw abortReason(signal)
        if (!(error instanceof InvalidOwnerError)) this.#queue.retry(uid)
        const failure = { subject: 'Collection', message: 'Collection failed', fields: { uid } }
        logFailure(this.#log, { ...failure, level: 'debug', error })
      } finally {
        this.#queue.done(uid)
      }
    }
  }

  async #collect(uid: string, monitors: ResourceMonitors, signal: AbortSignal): Promise<void> {
    const node = this.#graph.get(uid)
    if (!node) return
    if (isDeletingDependents(node)) return this.#deleteDependents(node, signal)
    if (isOrphaning(node)) return this.#orphanDependents(node, signal)
    if (node.isBeingDeleted || this.#graph.hasKnownOwners(node)) return
    const object = await this.#readLive(node, signal)
    if (!object) return
    const references = object.metadata.ownerReferences ?? []
    const owners: { reference: OwnerReference; state: OwnerState }[] = []
    for (const reference of references) {
      owners.push({ reference, state: await this.#stateOf(reference, node, { monitors, signal }) })
    }
    const dependents = this.#graph.dependentsOf(uid)
    await this.#act({ node, object, plan: planCollection({ object, owners, dependents }) }, signal)
    const unseen = unseenOwner(owners, (owner) => this.#graph.get(owner) !== undefined)
    if (unseen) throw new Error(`Cannot rely on owner ${unseen.name}: no watch has shown it yet`)
  }

  async #act(
    { node, object, plan }: { node: GraphNode; object: PartialObject; plan: CollectionPlan },
    signal: AbortSignal,
  ): Promise<void> {
    if (plan.action === 'keep') return
    if (plan.action === 'drop-owners') {
      return this.#patchMetadata(object, node, { ownerReferences: plan.ownerReferences }, signal)
    }
    if (plan.unblockOwners) {
      const unblocked = (object.metadata.ownerReferences ?? []).map((reference) => ({
        ...reference,
        blockOwnerDeletion: false,
      }))
      // The patch creates a new version; the next look deletes it.
      const isBlocking = object.metadata.ownerReferences?.some((each) => each.blockOwnerDeletion)
      if (isBlocking) {
        await this.#patchMetadata(object, node, { ownerReferences: unblocked }, signal)
        return this.#queue.add(node.uid)
      }
    }
    const { uid = '', resourceVersion = '' } = object.metadata
    const preconditions = { uid, resourceVersion }
    const { propagationPolicy } = plan
    const request = { ...keyOf(node), propagationPolicy, preconditions }
    await ignoreNotFound(this.#deps.cluster.metadata(node.resource).delete(request, signal))
    this.#log.debug('Object collected', {
      kind: node.kind,
      namespace: node.namespace,
      name: node.name,
    })
  }

  async #deleteDependents(owner: GraphNode, signal: AbortSignal): Promise<void> {
    const blocking = this.#graph.blockingDependentsOf(owner.uid)
    if (blocking.length === 0) return this.#removeFinalizer(owner, foregroundFinalizer, signal)
    for (const dependent of blocking) {
      if (!isDeletingDependents(dependent)) this.#queue.add(dependent.uid)
    }
  }

  async #orphanDependents(owner: GraphNode, signal: AbortSignal): Promise<void> {
    for (const dependent of this.#graph.dependentsOf(owner.uid)) {
      const object = await this.#readLive(dependent, signal)
      const known = object?.metadata.ownerReferences ?? []
      const ownerReferences = known.filter(({ uid }) => uid !== owner.uid)
      if (!object || ownerReferences.length === known.length) continue
      await this.#patchMetadata(object, dependent, { ownerReferences }, signal)
    }
    await this.#removeFinalizer(owner, orphanFinalizer, signal)
  }

  async #removeFinalizer(node: GraphNode, finalizer: string, signal: AbortSignal): Promise<void> {
    const object = await this.#readLive(node, signal)
    const known = object?.metadata.finalizers ?? []
    if (!object || !known.includes(finalizer)) return
    const finalizers = known.filter((each) => each !== finalizer)
    await this.#patchMetadata(object, node, { finalizers }, signal)
  }

  /** The version guards the data that was read: a list in a merge patch replaces the whole list. */
  async #patchMetadata(
    object: PartialObject,
    node: GraphNode,
    change: { ownerReferences: readonly OwnerReference[] } | { finalizers: readonly string[] },
    signal: AbortSignal,
  ): Promise<void> {
    const { resourceVersion, uid } = object.metadata
    const patch = { metadata: { ...change, resourceVersion, uid } }
    const request = { ...keyOf(node), type: 'merge' as const, patch }
    await ignoreNotFound(this.#deps.cluster.metadata(node.resource).patch(request, signal))
  }

  /** Resolves to undefined if the object is gone or another one has its name. */
  async #readLive(node: GraphNode, signal: AbortSignal): Promise<PartialObject | undefined> {
    try {
      const object = await this.#deps.cluster.metadata(node.resource).get(keyOf(node), signal)
      return object.metadata.uid === node.uid ? object : undefined
    } catch (error) {
      if (isStatusError(error, 'NotFound')) return undefined
      throw error
    }
  }

  /** An owner's absence is never taken from the graph, because it may lag behind. */
  async #stateOf(
    reference: OwnerReference,
    dependent: GraphNode,
    { monitors, signal }: { monitors: ResourceMonitors; signal: AbortSignal },
  ): Promise<OwnerState> {
    if (this.#absent.has(reference, dependent.namespace)) return 'absent'
    const resource = monitors.resourceOfKind(reference.apiVersion, reference.kind)
    if (!resource) {
      throw new Error(
        `Cannot find owner: no resource of kind ${reference.apiVersion} ${reference.kind}`,
      )
    }
    if (resource.isNamespaced && dependent.namespace === '') {
      this.#reportInvalidOwner(reference, dependent)
      throw new InvalidOwnerError(`Cannot collect ${dependent.name}: its owner is namespaced`)
    }
    const namespace = resource.isNamespaced ? { namespace: dependent.namespace } : {}
    try {
      const key = { ...namespace, name: reference.name }
      const owner = await this.#deps.cluster.metadata(resource).get(key, signal)
      if (owner.metadata.uid === reference.uid) {
        return isDeletingDependents(nodeOf(owner, resource)) ? 'waiting-for-dependents' : 'solid'
      }
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error
    }
    this.#absent.add(reference, dependent.namespace)
    if (this.#graph.get(reference.uid)) this.#reportInvalidOwner(reference, dependent)
    return 'absent'
  }

  #reportInvalidOwner(reference: OwnerReference, dependent: GraphNode): void {
    const { apiVersion, kind, name, namespace, uid } = dependent
    const metadata = { name, uid, ...(namespace ? { namespace } : {}) }
    const owner = `${reference.apiVersion}/${reference.kind}, name: ${reference.name}, uid: ${reference.uid}`
    this.#deps.events.recorder({ component: garbageCollector.name }).event(
      { apiVersion, kind, metadata },
      {
        type: 'Warning',
        reason: 'OwnerRefInvalidNamespace',
        message: `ownerRef [${owner}] does not exist in namespace "${namespace}"`,
      },
    )
  }
}

function keyOf({ namespace, name }: GraphNode): ObjectKey {
  return { name, ...(namespace ? { namespace } : {}) }
}
