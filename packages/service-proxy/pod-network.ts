import type { Node } from '@skerry/api'

/** Another node's pods and the way to them. */
export interface PodRoute {
  podCidr: string
  nodeAddress: string
  /** host-gw: the node is a neighbour; vxlan: it is behind a router. */
  via: 'host-gw' | 'vxlan'
}

export interface PodNetworkPlan {
  routes: readonly PodRoute[]
  /** The overlay device is needed at all. */
  needsOverlay: boolean
}

/** Decides the routes to every other node that has an address and a pod range. */
export function planPodNetwork(
  nodes: readonly Node[],
  ownName: string,
  isNeighbour: (address: string) => boolean,
): PodNetworkPlan {
  const routes: PodRoute[] = []
  for (const node of nodes) {
    if (node.metadata.name === ownName) continue
    const podCidr = node.spec?.podCIDR
    const nodeAddress = internalAddressOf(node)
    if (podCidr === undefined || podCidr === '' || nodeAddress === undefined) continue
    routes.push({ podCidr, nodeAddress, via: isNeighbour(nodeAddress) ? 'host-gw' : 'vxlan' })
  }
  return {
    routes: routes.toSorted((a, b) => (a.podCidr < b.podCidr ? -1 : 1)),
    needsOverlay: routes.some((route) => route.via === 'vxlan'),
  }
}

export function internalAddressOf(node: Node): string | undefined {
  return (node.status?.addresses ?? []).find(
    (address) => address.type === 'InternalIP' && !address.address.includes(':'),
  )?.address
}

/**
 * The overlay device's hardware address follows from the node's address, so that every node knows
 * every other's without asking anyone.
 */
export function overlayMacOf(nodeAddress: string): string {
  const bytes = nodeAddress.split('.').map((part) => Number(part).toString(16).padStart(2, '0'))
  return ['02', '73', ...bytes].join(':')
}

/** The address that stands for a peer on the overlay: the first of its pod range. */
export function overlayAddressOf(podCidr: string): string {
  return podCidr.split('/')[0] ?? podCidr
}
