/**
 * One group of an edge cluster's nodes, that a control plane sees as a cluster of its own. The agent
 * labels the group's nodes; everything else (selectors, admission, views) goes by that label.
 */
export interface VirtualGroup {
  /** Name of its Cluster: DNS label, at most 48 characters. */
  readonly clusterName: string
  readonly namespaces: NamespaceRule
}

/** How namespaces of a virtual cluster are called in the edge cluster. Both ways, without collision. */
export interface NamespaceRule {
  /** `edge` → `edge-east`: at most 63 characters. Throws RangeError of a name that cannot be mapped. */
  toMember(namespace: string): string
}

/**
 * Label of each node of a group, with the virtual cluster's name. A kubelet may not set labels of
 * this prefix (NodeRestriction), so no node moves itself into another group.
 */
export const groupLabel = 'skerry.node-restriction.kubernetes.io/virtual-cluster'

/** Labels of each namespace that an agent has made for a virtual cluster: whose, and its name there. */
export const virtualNamespaceLabels = Object.freeze({
  cluster: 'edge.skerry.io/virtual-cluster',
  namespace: 'edge.skerry.io/namespace',
})

/** Label of a namespace that is about to go because nothing is in it: nothing is made there any more. */
export const closingLabel = 'edge.skerry.io/closing'

/** Annotation of a namespace in which the control plane has nothing any more: what it is left for. */
export const keptForAnnotation = 'edge.skerry.io/kept-for'

/** Name of each object that isolates a namespace of a virtual cluster, whatever its kind. */
export const isolationName = 'virtual-cluster'
