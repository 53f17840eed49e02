import { isStatusError, type Namespace } from '@skerry/api'
import { resources, type ClusterClient, type DiscoveredResource } from '@skerry/client'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
} from '@skerry/controller-runtime'
import { placeOf, placesOf, type WorkContext } from '@skerry/cluster-agent'
import {
  executionNamespace,
  closingLabel,
  keptForAnnotation,
  virtualNamespaceLabels,
} from '@skerry/fleet-kinds'
import { karmadaKeys, type Work } from '@skerry/karmada-kinds'
import type { EdgeNames } from '../view/edge-names.ts'
import { findContent, type NamespaceContent } from './namespace-content.ts'
import { virtualClusterBounds } from '../limits-table.ts'

export interface EmptyNamespaceTiming {
  /** The time that a namespace must hold nothing of the control plane before its content is checked. */
  readonly graceMs: number
  /** The time that a namespace stays closed to new objects before its last check. */
  readonly closedMs: number
  /** The interval between checks of a namespace that still holds something. */
  readonly keptMs: number
}

const emptyNamespaceTiming: EmptyNamespaceTiming = virtualClusterBounds.emptyNamespaceController

export interface EmptyNamespaceDeps {
  readonly local: ClusterClient
  readonly edge: EdgeNames
  readonly timing?: Partial<EmptyNamespaceTiming> | undefined
}

const byNamespace = 'member-namespace'
/** It always exists, under its present name. */
const defaultNamespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } }

/**
 * Deletes namespaces that the agent created for Works, once they hold neither a Work's object nor anybody
 * else's. Namespaces that a Work or a person created are left to their creators.
 */
export function emptyNamespaceController(
  shared: WorkContext,
  deps: EmptyNamespaceDeps,
): ControllerDefinition {
  const { works, clusterName } = shared
  const { edge } = deps
  const empty = new EmptyNamespaces(shared, deps)
  const membersOf = (work: Work): string[] => membersIn(shared, work)
  return {
    name: 'empty-namespace-controller',
    workers: 1,
    watches: [
      watch(works, {
        indexes: { [byNamespace]: membersOf },
        keysOf: ({ type, object, old }) =>
          type === 'updated' && object.metadata.generation === old.metadata.generation
            ? []
            : [...membersOf(object), ...(old ? membersOf(old) : [])],
      }),
      {
        resource: works,
        subscribe(_context, enqueue) {
          for (const member of edge.namespacesOf(clusterName)) enqueue(member)
          return edge.onNamespace(({ cluster, member }) => {
            if (cluster === clusterName) enqueue(member)
          })
        },
      },
    ],
    reconcile: (member, context, signal) => empty.reconcile(member, context, signal),
  }
}

/** Returns the namespaces of the edge cluster in which a Work has objects, or that it brings. */
function membersIn(shared: WorkContext, work: Work): string[] {
  const places = placesOf(shared, work)
  const members = places.flatMap(({ apiVersion, kind, metadata: { namespace, name } }) => {
    if (namespace) return [namespace]
    return apiVersion === 'v1' && kind === 'Namespace' && name ? [name] : []
  })
  return [...new Set(members)]
}

/** A namespace that no Work uses. */
interface Unmeant {
  readonly sinceMs: number
  /** Unset while the namespace is open. */
  readonly closedAtMs?: number
  readonly first?: DiscoveredResource
}

class EmptyNamespaces {
  readonly #shared: WorkContext
  readonly #deps: EmptyNamespaceDeps
  readonly #timing: EmptyNamespaceTiming
  readonly #unmeant = new Map<string, Unmeant>()

  constructor(shared: WorkContext, deps: EmptyNamespaceDeps) {
    this.#shared = shared
    this.#deps = deps
    this.#timing = { ...emptyNamespaceTiming, ...deps.timing }
  }

  async reconcile(
    member: string,
    context: ControllerContext,
    signal: AbortSignal,
  ): Promise<ReconcileResult | void> {
    const { graceMs, closedMs, keptMs } = this.#timing
    const found = this.#deps.edge.find(member)
    if (found === undefined || !this.#isOurs(found, context) || this.#isMeant(member, context)) {
      this.#unmeant.delete(member)
      if (found) await this.#note(found, { isClosed: false, keptFor: undefined }, signal)
      return
    }
    const nowMs = context.clock.monotonicMs()
    const known = this.#unmeant.get(member) ?? { sinceMs: nowMs }
    this.#unmeant.set(member, known)
    // An agent that was stopped in between has left it closed.
    if (known.closedAtMs === undefined)
      await this.#note(found, { isClosed: false, keptFor: keptFor(found) }, signal)
    const { sinceMs, closedAtMs } = known
    const waitMs = Math.max(sinceMs + graceMs, (closedAtMs ?? -Infinity) + closedMs) - nowMs
    if (waitMs > 0) return { requeueAfterMs: waitMs }
    const { local } = this.#deps
    const content = await findContent(local, { namespace: member, first: known.first }, signal)
    // From here on nothing is awaited until the decision.
    if (this.#isMeant(member, context)) return { requeueAfterMs: 1 }
    if (content) {
      this.#unmeant.set(member, { sinceMs, first: content.resource })
      if (await this.#takeMoved(content, context, signal)) return { requeueAfterMs: closedMs }
      await this.#note(found, { isClosed: false, keptFor: textOf(content) }, signal)
      return { requeueAfterMs: keptMs }
    }
    if (closedAtMs !== undefined && isClosed(found)) return this.#take(found, context, signal)
    await this.#note(found, { isClosed: true, keptFor: undefined }, signal)
    this.#unmeant.set(member, { sinceMs, closedAtMs: context.clock.monotonicMs() })
    return { requeueAfterMs: closedMs }
  }

  /**
   * Reports whether the agent may delete the namespace: `memberNamespace` made it, or a Work made it and has
   * since moved to another name. A namespace that a person made lacks the label; one that a deleted Work left
   * behind names a Work that is gone.
   */
  #isOurs({ metadata }: Namespace, context: ControllerContext): boolean {
    const { name, labels = {}, annotations = {}, deletionTimestamp } = metadata
    const { [karmadaKeys.workName]: work } = annotations
    return (
      labels[virtualNamespaceLabels.cluster] === this.#shared.clusterName &&
      placeOf(this.#shared, defaultNamespace)?.metadata.name !== name &&
      labels[karmadaKeys.managed] === 'true' &&
      (work === undefined || this.#isMoved(work, context)) &&
      deletionTimestamp === undefined
    )
  }

  /**
   * Reports whether a Work that has nothing in this namespace any more still exists, and so has its objects
   * elsewhere.
   */
  #isMoved(name: string, context: ControllerContext): boolean {
    const namespace = executionNamespace(this.#shared.clusterName)
    const work = context.informer(this.#shared.works).get({ namespace, name })
    return work !== undefined && work.spec.preserveResourcesOnDeletion !== true
  }

  #isMeant(member: string, context: ControllerContext): boolean {
    return context.informer(this.#shared.works).byIndex(byNamespace, member).length > 0
  }

  /** An object of a Work that has it elsewhere now, as under another pattern of names. */
  async #takeMoved(
    { resource, object }: NamespaceContent,
    context: ControllerContext,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { name = '', namespace = '', labels, annotations, uid = '' } = object.metadata
    if (labels?.[karmadaKeys.managed] !== 'true') return false
    const { [karmadaKeys.workNamespace]: place, [karmadaKeys.workName]: work } = annotations ?? {}
    if (place !== executionNamespace(this.#shared.clusterName) || work === undefined) return false
    if (!this.#isMoved(work, context)) return false
    const asked = {
      namespace,
      name,
      propagationPolicy: 'Background',
      preconditions: { uid },
    } as const
    await unlessChanged(this.#deps.local.metadata(resource).delete(asked, signal))
    return true
  }

  /**
   * Deletes the namespace only at the version that it had when it was closed: reopening it changes the
   * version.
   */
  async #take(
    { metadata: { name = '', uid = '', resourceVersion = '' } }: Namespace,
    { log }: ControllerContext,
    signal: AbortSignal,
  ): Promise<ReconcileResult> {
    const preconditions = { uid, resourceVersion }
    const namespaces = this.#deps.local.resource(resources.namespaces)
    const taken = await unlessChanged(namespaces.delete({ name, preconditions }, signal))
    if (taken) log.info('Deleted empty namespace', { namespace: name })
    return { requeueAfterMs: this.#timing.closedMs }
  }

  async #note(
    found: Namespace,
    note: { isClosed: boolean; keptFor: string | undefined },
    signal: AbortSignal,
  ): Promise<void> {
    const { name = '', uid } = found.metadata
    if (isClosed(found) === note.isClosed && keptFor(found) === note.keptFor) return
    const patch = {
      metadata: {
        uid,
        labels: { [closingLabel]: note.isClosed ? 'true' : null },
        annotations: { [keptForAnnotation]: note.keptFor ?? null },
      },
    }
    const namespaces = this.#deps.local.resource(resources.namespaces)
    const noted = await unlessChanged(namespaces.patch({ name, type: 'merge', patch }, signal))
    if (noted) this.#deps.edge.recordNamespace(noted)
  }
}

function isClosed({ metadata }: Namespace): boolean {
  return metadata.labels?.[closingLabel] !== undefined
}

function keptFor({ metadata }: Namespace): string | undefined {
  return metadata.annotations?.[keptForAnnotation]
}

function textOf({ resource: { group, resource }, object }: NamespaceContent): string {
  const what = group === '' ? resource : `${resource}.${group}`
  return `${what}/${object.metadata.name ?? ''}`
}

/** Resolves undefined if the object is gone or has been replaced: that change brings it back here. */
async function unlessChanged<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (isStatusError(error, 'NotFound') || isStatusError(error, 'Conflict')) return undefined
    throw error
  }
}
