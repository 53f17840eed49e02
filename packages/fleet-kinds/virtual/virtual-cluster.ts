import type { KubeObject, LabelSelectorFields } from '@skerry/api'
import type { TypedResource } from '@skerry/client'
import type { ClusterCondition } from '../cluster/cluster.ts'

/** An edge.skerry.io/v1alpha1 VirtualCluster: nodes of this cluster that a hub sees as a cluster. */
export interface VirtualCluster extends KubeObject {
  spec: VirtualClusterSpec
  status?: VirtualClusterStatus
}

export interface VirtualClusterSpec {
  /**
   * The name on the hub; default `<cluster>-<name>`. Our hub accepts only names that begin with the
   * cluster's.
   */
  clusterName?: string
  /** Selects nodes by their labels. If `nodeNames` is omitted, too, it has no nodes. */
  nodeSelector?: LabelSelectorFields
  /** Nodes by name, in addition to the selected ones. */
  nodeNames?: string[]
  provider?: string
  region?: string
  zones?: string[]
  /** The labels of the Cluster on the hub. */
  labels?: Record<string, string>
  namespaces?: { pattern?: string }
  isolation?: VirtualIsolation
  /** The pod templates of custom kinds, for example `apps.kruise.io/CloneSet: [spec.template]`. */
  podTemplatePaths?: Record<string, string[]>
  /** Cluster-scoped custom kinds that its siblings share, for example `cert-manager.io/ClusterIssuer`. */
  sharedKinds?: string[]
}

export interface VirtualIsolation {
  /** Whether pods of other virtual clusters cannot reach those of this one. */
  closedNetwork?: boolean
  /** The hard limits of a ResourceQuota in each of its namespaces. */
  quota?: Record<string, string>
  /** Whether it may bind ClusterRoles in the whole edge cluster, including its siblings. */
  allowsClusterRights?: boolean
  /**
   * Whether its pods and volumes may reach files, devices, processes and network of its nodes, and disks by
   * their handle.
   */
  allowsHostAccess?: boolean
  /** The volume sources that its PersistentVolumes may use, for example `nfs` and `csi`. Default: none. */
  volumeSources?: string[]
  /** The addresses and blocks that its Services and Gateways may claim. */
  externalAddresses?: string[]
}

export interface VirtualClusterStatus {
  /** The registered name. After a change, the previous one until that is removed. */
  clusterName?: string
  nodes?: { total?: number; ready?: number }
  /** Problems for a person to solve; `kubectl get` shows the first. */
  problems?: string[]
  conditions?: ClusterCondition[]
}

export const virtualClusterResource: TypedResource<VirtualCluster> = Object.freeze({
  group: 'edge.skerry.io',
  version: 'v1alpha1',
  resource: 'virtualclusters',
  isNamespaced: false,
})

/** A source of node groups, each of which becomes a virtual cluster. */
export interface VirtualClusterSet extends KubeObject {
  spec: VirtualClusterSetSpec
  status?: VirtualClusterSetStatus
}

export interface VirtualClusterSetSpec {
  source: GroupSource
  /** The template of each VirtualCluster; names and nodes come from the source. */
  template?: Omit<VirtualClusterSpec, 'clusterName' | 'nodeSelector' | 'nodeNames'>
  /** The time for which a VirtualCluster outlives its group; 0 deletes it at once. Default 600. */
  gracePeriodSeconds?: number
}

/** A source of groups; exactly one field is set. */
export interface GroupSource {
  /** A group for each value that nodes have of this label. */
  label?: { key: string }
  /** KubeEdge's NodeGroups, apps.kubeedge.io. */
  nodeGroups?: Record<string, never>
  /** SuperEdge's NodeUnits, site.superedge.io. */
  nodeUnits?: Record<string, never>
  /** OpenYurt's NodePools, apps.openyurt.io. */
  nodePools?: Record<string, never>
}

export interface VirtualClusterSetStatus {
  virtualClusters?: number
  problems?: string[]
  conditions?: ClusterCondition[]
}

export const virtualClusterSetResource: TypedResource<VirtualClusterSet> = Object.freeze({
  group: 'edge.skerry.io',
  version: 'v1alpha1',
  resource: 'virtualclustersets',
  isNamespaced: false,
})

/** The label of each VirtualCluster that a set has made. */
export const setLabel = 'edge.skerry.io/virtual-cluster-set'

/** Set on a VirtualCluster whose group is gone from its set: the time since then, in RFC 3339. */
export const goneSinceAnnotation = 'edge.skerry.io/group-gone-since'

/** Set on a VirtualCluster while the hub or this cluster has objects of it. */
export const virtualClusterFinalizer = 'edge.skerry.io/virtual-cluster'

export const virtualConditions = Object.freeze({
  /** The hub knows it. */
  registered: 'Registered',
  /** The hub's view: the cluster's API answers. */
  ready: 'Ready',
})

/** Name that it is to have on the hub. */
export function clusterNameOf(parent: string, { metadata, spec }: VirtualCluster): string {
  return spec.clusterName ?? `${parent}-${metadata.name ?? ''}`
}
