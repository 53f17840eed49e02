/**
 * virtual-clusters: presents a group of an edge cluster's nodes as a cluster. groups/ runs each virtual
 * cluster, mapping/ translates objects between the two sides, view/ serves the virtual API, isolation/
 * separates neighbours. Start reading at groups/run-virtual-clusters.ts, then mapping/mapping.ts.
 */
export type { ChildHub, IdentityOf } from './groups/child-hub.ts'
export { type VirtualClusters, createVirtualClusters } from './groups/run-virtual-clusters.ts'
export { virtualIdOf } from './groups/virtual-id.ts'
export { throughParents } from './view/through-parents.ts'
export { type VirtualViews, createVirtualViews } from './view/virtual-views.ts'
