import { BlockList, isIPv4 } from 'node:net'
import type { Node } from '@skerry/api'

/** Another node's pods and the route to them. */
export interface PodRoute {
  podCidr: string
  nodeAddress: string
  /** host-gw means that the node is a neighbour; vxlan that it is behind a router. */
  via: 'host-gw' | 'vxlan'
}

/** A range that a node claims but that gets no traffic. */
export interface RefusedRange {
  node: string
  podCidr: string
  reason: string
}

export interface PodNetworkPlan {
  routes: readonly PodRoute[]
  /** True if the overlay device is needed at all. */
  needsOverlay: boolean
  refused: readonly RefusedRange[]
}

export interface PodNetworkOptions {
  ownName: string
  /** The range of all pods of the cluster, e.g. 10.42.0.0/16. */
  clusterCidr: string
}

/**
 * Plans the routes to every other node that has an address and a pod range. A node may have set its
 * range itself to attract traffic: only ranges within the cluster's are routed, and of overlapping
 * ones the own node's and then the oldest node's. A pure function.
 */
export function planPodNetwork(
  nodes: readonly Node[],
  { ownName, clusterCidr }: PodNetworkOptions,
  isNeighbour: (address: string) => boolean,
): PodNetworkPlan {
  const routes: PodRoute[] = []
  const refused: RefusedRange[] = []
  const cluster = rangeOf(clusterCidr)
  const taken: { range: Range; node: string }[] = []
  for (const node of oldestFirst(nodes, ownName)) {
    const { name = '' } = node.metadata
    const podCidr = node.spec?.podCIDR
    if (podCidr === undefined || podCidr === '') continue
    const range = rangeOf(podCidr)
    if (range === undefined || cluster === undefined || !holds(cluster, range)) {
      refused.push({ node: name, podCidr, reason: `it is not within ${clusterCidr}` })
      continue
    }
    const owner = taken.find((each) => holds(each.range, range) || holds(range, each.range))
    if (owner !== undefined) {
      refused.push({ node: name, podCidr, reason: `node ${owner.node} has it` })
      continue
    }
    taken.push({ range, node: name })
    const nodeAddress = internalAddressOf(node)
    if (name === ownName || nodeAddress === undefined) continue
    routes.push({ podCidr, nodeAddress, via: isNeighbour(nodeAddress) ? 'host-gw' : 'vxlan' })
  }
  return {
    routes: routes.toSorted((a, b) => (a.podCidr < b.podCidr ? -1 : 1)),
    needsOverlay: routes.some((route) => route.via === 'vxlan'),
    refused,
  }
}

function oldestFirst(nodes: readonly Node[], ownName: string): Node[] {
  const keyOf = ({ metadata }: Node): string =>
    [
      metadata.name === ownName ? '' : 'other',
      metadata.creationTimestamp ?? '',
      metadata.uid ?? '',
      metadata.name ?? '',
    ].join(' ')
  return nodes.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}

interface Range {
  readonly address: string
  readonly bits: number
  readonly block: BlockList
}

function rangeOf(cidr: string): Range | undefined {
  const [address = '', length = ''] = cidr.split('/')
  const bits = Number(length)
  if (!isIPv4(address) || !/^\d{1,2}$/.test(length) || bits > 32) return undefined
  const block = new BlockList()
  block.addSubnet(address, bits, 'ipv4')
  return { address, bits, block }
}

function holds(outer: Range, inner: Range): boolean {
  return inner.bits >= outer.bits && outer.block.check(inner.address, 'ipv4')
}

function internalAddressOf(node: Node): string | undefined {
  return (node.status?.addresses ?? []).find(
    (address) => address.type === 'InternalIP' && isIPv4(address.address),
  )?.address
}

/**
 * The overlay device's hardware address is derived from the node's address, so that every node
 * knows every other's without asking.
 */
export function overlayMacOf(nodeAddress: string): string {
  const bytes = nodeAddress.split('.').map((part) => Number(part).toString(16).padStart(2, '0'))
  return ['02', '73', ...bytes].join(':')
}

/** Returns the address of a peer on the overlay: the first of its pod range. */
export function overlayAddressOf(podCidr: string): string {
  return podCidr.split('/')[0] ?? podCidr
}
