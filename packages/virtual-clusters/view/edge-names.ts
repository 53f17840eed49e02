import { isStatusError, type Namespace, type Node } from '@skerry/api'
import { RecentMap, runAll, type Clock, type Logger, type Random } from '@skerry/base'
import { createInformer, resources, type Change, type ClusterClient } from '@skerry/client'
import { karmadaKeys } from '@skerry/karmada-kinds'
import { groupLabel, keptForAnnotation, virtualNamespaceLabels } from '@skerry/fleet-kinds'
import { virtualClusterBounds } from '../limits-table.ts'

export interface EdgeNamesDeps {
  /** The edge cluster, with the agent's own rights. */
  readonly local: ClusterClient
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/** The owner of a namespace of the edge. */
export interface NamespaceOwner {
  /** The virtual cluster, or undefined if the namespace is the edge cluster's own. */
  readonly cluster: string | undefined
  /** The namespace's name there; empty if it is the edge cluster's own. */
  readonly namespace: string
}

export interface OwnedChange {
  readonly cluster: string
  readonly member: string
  readonly isGone: boolean
}

/** Reports the owners of the edge cluster's namespaces and nodes. One instance serves all virtual clusters. */
export interface EdgeNames {
  /** Follows the edge until the signal aborts; rejects with its reason. */
  run(signal: AbortSignal): Promise<void>
  /** Resolves once everything that existed at the start is known. */
  whenKnown(signal: AbortSignal): Promise<void>
  /** Returns an existing namespace, with only the metadata that names its owner and purpose. */
  find(member: string): Namespace | undefined
  /** Returns undefined if no namespace of that name was ever seen. A deleted namespace keeps its last owner. */
  ownerOf(member: string): NamespaceOwner | undefined
  /**
   * Does the same, but asks the edge if the namespace is not known or is gone. Resolves undefined if there is
   * none.
   */
  findOwner(member: string, signal: AbortSignal): Promise<NamespaceOwner | undefined>
  /** Names in the edge of the namespaces that this virtual cluster has now. */
  namespacesOf(cluster: string): readonly string[]
  /**
   * Calls the listener with each namespace of a virtual cluster that appears or disappears, by its name in
   * the edge.
   */
  onNamespace(listener: (change: OwnedChange) => void): Disposable
  /** Takes in a namespace that was just made here. */
  recordNamespace(namespace: Namespace): void
  isNodeOf(cluster: string, node: string): boolean
}

const { goneNamespacesMax } = virtualClusterBounds.edgeNames

export function createEdgeNames({ local, ...deps }: EdgeNamesDeps): EdgeNames {
  const client = local.resource(resources.namespaces)
  const namespaces = createInformer(client, { transform: withNotes }, deps)
  const nodes = createInformer(
    local.resource(resources.nodes),
    { labelSelector: groupLabel, transform: nameAndLabels },
    deps,
  )
  namespaces.addIndex('cluster', (namespace) => {
    const { cluster } = ownerIn(namespace)
    return cluster === undefined ? [] : [cluster]
  })
  const gone = new RecentMap<string, NamespaceOwner>(goneNamespacesMax)
  namespaces.onChange((change) => noteGone(gone, change))
  const ownerOf = (member: string): NamespaceOwner | undefined => {
    const known = namespaces.get({ name: member })
    return known ? ownerIn(known) : gone.get(member)
  }
  return {
    async run(signal) {
      await runAll(signal, [(scope) => namespaces.run(scope), (scope) => nodes.run(scope)])
    },
    async whenKnown(signal) {
      if (namespaces.hasSynced() && nodes.hasSynced()) return
      await Promise.all([namespaces.whenSynced(signal), nodes.whenSynced(signal)])
    },
    find: (member) => namespaces.get({ name: member }),
    ownerOf,
    async findOwner(member, signal) {
      const known = namespaces.get({ name: member })
      if (known) return ownerIn(known)
      try {
        const found = await client.get({ name: member }, signal)
        namespaces.recordWrite(found)
        return ownerIn(found)
      } catch (error) {
        if (isStatusError(error, 'NotFound')) return undefined
        throw error
      }
    },
    namespacesOf: (cluster) =>
      namespaces.byIndex('cluster', cluster).map(({ metadata }) => metadata.name ?? ''),
    onNamespace: (listener) =>
      namespaces.onChange(({ type, object, old }) => {
        const { cluster } = ownerIn(object)
        const member = object.metadata.name ?? ''
        const isSame = old !== undefined && type === 'updated' && ownerIn(old).cluster === cluster
        if (cluster !== undefined && !isSame) {
          listener({ cluster, member, isGone: type === 'deleted' })
        }
      }),
    recordNamespace: (namespace) => namespaces.recordWrite(namespace),
    isNodeOf: (cluster, name) => nodes.get({ name })?.metadata.labels?.[groupLabel] === cluster,
  }
}

function ownerIn({ metadata }: Namespace): NamespaceOwner {
  const {
    [virtualNamespaceLabels.cluster]: cluster,
    [virtualNamespaceLabels.namespace]: namespace,
  } = metadata.labels ?? {}
  const isWhole = cluster !== undefined && namespace !== undefined
  return isWhole ? { cluster, namespace } : { cluster: undefined, namespace: '' }
}

function noteGone(
  gone: RecentMap<string, NamespaceOwner>,
  { type, object }: Change<Namespace>,
): void {
  const { name = '' } = object.metadata
  if (type === 'deleted') gone.set(name, ownerIn(object))
  else gone.delete(name)
}

/** The annotations that state a namespace's purpose. */
const notes = [keptForAnnotation, karmadaKeys.workName]

function withNotes(namespace: Namespace): Namespace {
  const { annotations = {}, deletionTimestamp } = namespace.metadata
  const kept = Object.entries(annotations).filter(([key]) => notes.includes(key))
  const slim = nameAndLabels(namespace)
  const metadata = {
    ...slim.metadata,
    ...(kept.length > 0 ? { annotations: Object.fromEntries(kept) } : {}),
    ...(deletionTimestamp ? { deletionTimestamp } : {}),
  }
  return { ...slim, metadata }
}

function nameAndLabels<T extends Namespace | Node>(object: T): T {
  const { name, uid, resourceVersion, labels } = object.metadata
  const metadata = {
    ...(name ? { name } : {}),
    ...(uid ? { uid } : {}),
    ...(resourceVersion ? { resourceVersion } : {}),
    ...(labels ? { labels } : {}),
  }
  const { spec: _spec, status: _status, ...rest } = object
  // Spec and status are optional fields of both kinds.
  return { ...rest, metadata } as T
}
