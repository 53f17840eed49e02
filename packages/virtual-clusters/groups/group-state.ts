import type { Node } from '@skerry/api'
import type { Change, Informer } from '@skerry/client'
import { groupLabel, type VirtualGroup, type VirtualCluster } from '@skerry/fleet-kinds'
import type { NodeLabels } from '../mapping/contradiction.ts'
import { parseExternalAddresses } from '../mapping/external-addresses.ts'
import { createMapping, type Mapping } from '../mapping/mapping.ts'
import { createNamespaceRule } from '../mapping/namespace-rule.ts'
import { planGroups, type GroupPlan, type PlannedGroup } from './plan-groups.ts'

/** A virtual cluster with its mapping to the edge cluster. */
export interface MappedCluster {
  readonly group: VirtualGroup
  readonly mapping: Mapping
}

/** Holds the groups and their nodes as of the last change. */
export class GroupState {
  readonly #parent: string
  readonly #virtualClusters: Informer<VirtualCluster>
  readonly #nodes: Informer<Node>
  readonly #listeners = new Set<() => void>()
  #plan: GroupPlan | undefined
  #views = new Map<string, MappedCluster>()

  constructor(parent: string, virtualClusters: Informer<VirtualCluster>, nodes: Informer<Node>) {
    this.#parent = parent
    this.#virtualClusters = virtualClusters
    this.#nodes = nodes
    virtualClusters.onChange(() => this.#onChange())
    nodes.onChange((change) => {
      if (isRegrouping(change)) this.#onChange()
    })
  }

  /** False before everything that exists was seen: until then no node may lose its group. */
  isKnown(): boolean {
    return this.#virtualClusters.hasSynced() && this.#nodes.hasSynced()
  }

  plan(): GroupPlan {
    this.#plan ??= planGroups(this.#parent, this.#virtualClusters.list(), this.#nodes.list())
    return this.#plan
  }

  /** Returns the plan of a VirtualCluster, or undefined if it is gone or being deleted. */
  planned(name: string): PlannedGroup | undefined {
    return this.plan().groups.get(name)
  }

  /** The group that a node has or is about to get. */
  groupOf(node: Node): string | undefined {
    const { labels } = this.plan()
    const { name = '' } = node.metadata
    return labels.has(name) ? labels.get(name) : node.metadata.labels?.[groupLabel]
  }

  /** A virtual cluster of this agent, by its name on the hub. */
  view(clusterName: string): MappedCluster | undefined {
    const known = this.#views.get(clusterName)
    if (known) return known
    const made = this.#viewOf(clusterName)
    if (made) this.#views.set(clusterName, made)
    return made
  }

  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  #viewOf(clusterName: string): MappedCluster | undefined {
    for (const [name, planned] of this.plan().groups) {
      if (planned.isRefused || planned.clusterName !== clusterName) continue
      const found = this.#virtualClusters.get({ name })
      return found && viewOf(clusterName, found)
    }
    return undefined
  }

  #onChange(): void {
    this.#plan = undefined
    this.#views = new Map()
    for (const listener of this.#listeners) listener()
  }
}

/**
 * Returns the mapping of a virtual cluster's manifests and requests to the edge cluster. Throws RangeError
 * for an invalid pattern or address.
 */
export function viewOf(clusterName: string, { spec }: Pick<VirtualCluster, 'spec'>): MappedCluster {
  const { pattern } = spec.namespaces ?? {}
  const group: VirtualGroup = {
    clusterName,
    namespaces: createNamespaceRule({ clusterName, ...(pattern ? { pattern } : {}) }),
  }
  const { podTemplatePaths, sharedKinds } = spec
  const mapping = createMapping(group, {
    ...(podTemplatePaths ? { podTemplatePaths } : {}),
    ...(sharedKinds ? { sharedKinds } : {}),
    nodeLabels: nodeLabelsOf(spec),
    allowsClusterRights: spec.isolation?.allowsClusterRights === true,
    allowsHostAccess: spec.isolation?.allowsHostAccess === true,
    volumeSources: spec.isolation?.volumeSources ?? [],
    externalAddresses: parseExternalAddresses(spec.isolation?.externalAddresses ?? []),
  })
  return { group, mapping }
}

/** Returns the labels that each of its nodes has by its selector; none if it also has nodes by name. */
export function nodeLabelsOf({ nodeSelector, nodeNames = [] }: VirtualCluster['spec']): NodeLabels {
  return nodeNames.length > 0 ? {} : (nodeSelector?.matchLabels ?? {})
}

/** Most updates of a node are heartbeats, which change no group. */
function isRegrouping(change: Change<Node>): boolean {
  if (change.type !== 'updated') return true
  return groupingOf(change.object) !== groupingOf(change.old)
}

function groupingOf({ metadata, status }: Node): string {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')?.status
  return JSON.stringify([metadata.labels, ready])
}
