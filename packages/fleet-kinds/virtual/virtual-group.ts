/**
 * One group of an edge cluster's nodes that a control plane sees as a cluster. The agent labels the group's
 * nodes; everything else (selectors, admission, views) uses that label.
 */
export interface VirtualGroup {
  /** Name of its Cluster: DNS label, at most 48 characters. */
  readonly clusterName: string
  readonly namespaces: NamespaceRule
}

/** Names the namespaces of a virtual cluster in the edge cluster, in both directions, without collisions. */
export interface NamespaceRule {
  /** Maps `edge` to `edge-east`: at most 63 characters. Throws RangeError for a name that cannot be mapped. */
  toMember(namespace: string): string
}

/**
 * The label of each node of a group, with the virtual cluster's name. A kubelet may not set labels of this
 * prefix (NodeRestriction), so no node moves itself into another group.
 */
export const groupLabel = 'skerry.node-restriction.kubernetes.io/virtual-cluster'

/** The labels of each namespace that an agent has made for a virtual cluster: the owner, and the name there. */
export const virtualNamespaceLabels = Object.freeze({
  cluster: 'edge.skerry.io/virtual-cluster',
  namespace: 'edge.skerry.io/namespace',
})

/** The label of an empty namespace that is about to be deleted: no objects may be created there. */
export const closingLabel = 'edge.skerry.io/closing'

/**
 * The annotation of a namespace in which the control plane has nothing any more, with the reason for keeping
 * it.
 */
export const keptForAnnotation = 'edge.skerry.io/kept-for'

/** Name of each object that isolates a namespace of a virtual cluster, whatever its kind. */
export const isolationName = 'virtual-cluster'
