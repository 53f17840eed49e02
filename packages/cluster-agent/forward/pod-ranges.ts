import { BlockList, isIP } from 'node:net'
import type { Node } from '@skerry/api'

/** The address ranges that nodes give to their pods. */
export interface PodRanges {
  has(node: string): boolean
  /** Returns false also if the node does not exist or has no range. */
  covers(node: string, address: string): boolean
}

/** Reads `spec.podCIDRs`, which no kubelet may change once it is set. */
export function podRangesOf(nodes: readonly Node[]): PodRanges {
  const ranges = new Map(
    nodes.map(({ metadata, spec }) => {
      const cidrs = spec?.podCIDRs ?? (spec?.podCIDR ? [spec.podCIDR] : [])
      return [metadata.name ?? '', blocksOf(cidrs)]
    }),
  )
  return {
    has: (node) => ranges.has(node),
    covers: (node, address) => {
      const family = isIP(address)
      return family !== 0 && ranges.get(node)?.check(address, familyName(family)) === true
    },
  }
}

function blocksOf(cidrs: readonly string[]): BlockList {
  const blocks = new BlockList()
  for (const cidr of cidrs) {
    const [network = '', length = ''] = cidr.split('/')
    // The API server has checked them.
    blocks.addSubnet(network, Number(length), familyName(isIP(network)))
  }
  return blocks
}

const familyName = (family: number): 'ipv4' | 'ipv6' => (family === 6 ? 'ipv6' : 'ipv4')
