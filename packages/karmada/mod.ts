/**
 * karmada: the fleet, in Karmada's words. Kinds that the hub serves beside the built-in ones, and
 * the controllers on both ends of a registration: cluster/ (Cluster objects, agents' identities and
 * rights, their status). It speaks through `client` only and knows no socket and no tunnel.
 * Start reading at cluster/cluster-kind.ts.
 */
export { clusterKind } from './cluster/cluster-kind.ts'
