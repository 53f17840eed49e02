import type {
  EdgeCluster,
  EdgeClusterSpec,
  EdgeClusterStatus,
  EdgeNetwork,
} from './edge-cluster.ts'
import { isImport } from './edge-cluster-import.ts'
import { edgeClusterBounds, edgeNetworkDefaults } from '../limits-table.ts'

/** The figures that follow from the ranges of a cluster. */
export interface NetworkSize {
  /** The bits of each node's share of the pod range. */
  readonly nodeBits: number
  readonly podsPerNode: number
  readonly nodesMax: number
  readonly servicesMax: number
}

/**
 * Returns the bits of each node's share of the pod range. A share has twice as many addresses as pods, so that the
 * address of a pod that has ended is not given to another one at once.
 */
export function nodeBitsOf({ podsPerNode }: Pick<EdgeNetwork, 'podsPerNode'> = {}): number {
  const pods = podsPerNode ?? edgeNetworkDefaults.podsPerNode
  return 32 - Math.ceil(Math.log2(2 * pods))
}

/** Returns the number of nodes for which the pod range has addresses. */
export function nodesMaxOf({ network }: Partial<EdgeClusterSpec>): number {
  return nodesOf(network ?? {})
}

function nodesOf(network: EdgeNetwork): number {
  const bits = bitsOf(network.podCIDR ?? edgeNetworkDefaults.podCIDR)
  const nodeBits = nodeBitsOf(network)
  return bits <= nodeBits ? 2 ** (nodeBits - bits) : 0
}

export function networkSizeOf({ network = {} }: Partial<EdgeClusterSpec>): NetworkSize {
  const bits = bitsOf(network.serviceCIDR ?? edgeNetworkDefaults.serviceCIDR)
  return {
    nodeBits: nodeBitsOf(network),
    podsPerNode: network.podsPerNode ?? edgeNetworkDefaults.podsPerNode,
    nodesMax: nodesOf(network),
    // The first and the last address are not a service's.
    servicesMax: Math.max(0, 2 ** (32 - bits) - 2),
  }
}

/** Returns the figures as a status has them. A cluster that is imported has none. */
export function figuresOf(
  edge: Pick<EdgeCluster, 'spec'>,
): Pick<EdgeClusterStatus, 'nodesMax' | 'servicesMax' | 'capacity'> {
  if (isImport(edge)) return {}
  const { nodesMax, servicesMax } = networkSizeOf(edge.spec)
  return { nodesMax, servicesMax, capacity: capacityText(edge.spec) }
}

/** Formats the figures for people. */
function capacityText(spec: Partial<EdgeClusterSpec>): string {
  const { nodesMax, podsPerNode, nodeBits, servicesMax } = networkSizeOf(spec)
  return `at most ${nodesMax} nodes with ${podsPerNode} pods each (a /${nodeBits} for each node), and ${servicesMax} services`
}

function bitsOf(cidr: string): number {
  return Number(cidr.split('/')[1])
}

/** Returns the reason, as a clause, for which a node cannot have this many pods; undefined if it can. */
export function whyNotPods(podsPerNode: number): string | undefined {
  const { podsPerNodeMin, podsPerNodeMax } = edgeClusterBounds
  const isFit = podsPerNode >= podsPerNodeMin && podsPerNode <= podsPerNodeMax
  return isFit ? undefined : `must be from ${podsPerNodeMin} to ${podsPerNodeMax}`
}
