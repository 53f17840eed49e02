import type { KubeObject, LabelSelectorFields } from '@skerry/api'
import type { TypedResource } from '@skerry/client'
import type { ClusterCondition } from '../cluster/cluster.ts'

/** edge.skerry.io/v1alpha1 VirtualCluster: nodes of this cluster that a hub sees as one of their own. */
export interface VirtualCluster extends KubeObject {
  spec: VirtualClusterSpec
  status?: VirtualClusterStatus
}

export interface VirtualClusterSpec {
  /** On the hub; default `<cluster>-<name>`. Our hub takes only names that begin with the cluster's. */
  clusterName?: string
  /** Nodes with these labels; absent with `nodeNames` absent, too: none. */
  nodeSelector?: LabelSelectorFields
  /** And these. */
  nodeNames?: string[]
  provider?: string
  region?: string
  zones?: string[]
  /** Of the Cluster on the hub. */
  labels?: Record<string, string>
  namespaces?: { pattern?: string }
  isolation?: VirtualIsolation
  /** Pod templates of custom kinds, as `apps.kruise.io/CloneSet: [spec.template]`. */
  podTemplatePaths?: Record<string, string[]>
  /** Cluster-scoped custom kinds, as `cert-manager.io/ClusterIssuer`, that its siblings have, too. */
  sharedKinds?: string[]
}

export interface VirtualIsolation {
  /** Pods of other virtual clusters do not reach those of this one. */
  closedNetwork?: boolean
  /** Hard limits of a ResourceQuota, which each of its namespaces has. */
  quota?: Record<string, string>
  /** It may bind ClusterRoles in the whole edge cluster, its siblings included. */
  allowsClusterRights?: boolean
  /** Its pods and volumes may reach files, devices, processes and network of its nodes, and disks by their handle. */
  allowsHostAccess?: boolean
  /** What its PersistentVolumes may consist of, as `nfs` and `csi`; default: nothing that it is sent. */
  volumeSources?: string[]
  /** Addresses and blocks that its Services and Gateways may name as their own. */
  externalAddresses?: string[]
}

export interface VirtualClusterStatus {
  /** Under which name it is registered; the one before until that is taken away. */
  clusterName?: string
  nodes?: { total?: number; ready?: number }
  /** What a person should put right; `kubectl get` shows the first. */
  problems?: string[]
  conditions?: ClusterCondition[]
}

export const virtualClusterResource: TypedResource<VirtualCluster> = Object.freeze({
  group: 'edge.skerry.io',
  version: 'v1alpha1',
  resource: 'virtualclusters',
  isNamespaced: false,
})

/** Where groups of nodes come from that become virtual clusters, each by itself. */
export interface VirtualClusterSet extends KubeObject {
  spec: VirtualClusterSetSpec
  status?: VirtualClusterSetStatus
}

export interface VirtualClusterSetSpec {
  source: GroupSource
  /** Of each VirtualCluster it makes; names and nodes come from the source. */
  template?: Omit<VirtualClusterSpec, 'clusterName' | 'nodeSelector' | 'nodeNames'>
  /** For so long a VirtualCluster stays whose group is gone; 0: it goes at once. Default 600. */
  gracePeriodSeconds?: number
}

/** Exactly one of them. */
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

/** Label of each VirtualCluster that a set has made. */
export const setLabel = 'edge.skerry.io/virtual-cluster-set'

/** On a VirtualCluster whose set has its group no more: since when, in RFC 3339. */
export const goneSinceAnnotation = 'edge.skerry.io/group-gone-since'

/** On a VirtualCluster while the hub or this cluster has something of it. */
export const virtualClusterFinalizer = 'edge.skerry.io/virtual-cluster'

export const virtualConditions = Object.freeze({
  /** The hub knows it. */
  registered: 'Registered',
  /** As the hub sees it: its API answers. */
  ready: 'Ready',
})

/** Name that it is to have on the hub. */
export function clusterNameOf(parent: string, { metadata, spec }: VirtualCluster): string {
  return spec.clusterName ?? `${parent}-${metadata.name ?? ''}`
}
