import { ipv4Number, ipv4Text } from '@skerry/base'
import type { Node } from '@skerry/api'
import { keyOfObject, parseKey, resources } from '@skerry/client'
import { watch, type ControllerDefinition } from '@skerry/controller-runtime'

export interface NodeIpamOptions {
  /** The range of all pods of the cluster, e.g. 10.42.0.0/16. IPv4. */
  clusterCidr: string
  /** The prefix length of each node's part. Default: 24, as upstream. */
  nodeMaskSize: number
  /** Resolves with what is free for others or kept from them. If omitted, the whole range is for all nodes. */
  room?: () => Promise<NodeRoom>
}

/** The share of a cluster's range from which nodes get their parts. */
export interface NodeRoom {
  /** If omitted, all of it. */
  readonly within?: string | undefined
  /** Ranges that are set aside. */
  readonly without: readonly string[]
}

/** Returns the first free part of the cluster's range, or undefined if all are taken. */
export function nextPodCidr(
  nodes: readonly Node[],
  options: NodeIpamOptions,
  { within, without }: NodeRoom = { without: [] },
): string | undefined {
  const [base = '', length = ''] = options.clusterCidr.split('/')
  const count = 2 ** (options.nodeMaskSize - Number(length))
  const size = 2 ** (32 - options.nodeMaskSize)
  const taken = new Set(nodes.flatMap((node) => node.spec?.podCIDRs ?? node.spec?.podCIDR ?? []))
  const start = ipv4Number(base)
  for (let index = 0; index < count; index++) {
    const candidate = `${ipv4Text(start + index * size)}/${options.nodeMaskSize}`
    if (taken.has(candidate) || without.some((range) => isPart(candidate, range))) continue
    if (within === undefined || isPart(candidate, within)) return candidate
  }
  return undefined
}

/** Returns whether a range is part of another one. */
function isPart(range: string, whole: string): boolean {
  const [address = '', length = ''] = range.split('/')
  const [start = '', wholeLength = ''] = whole.split('/')
  const size = 2 ** (32 - Number(wholeLength))
  const distance = ipv4Number(address) - ipv4Number(start)
  return Number(length) >= Number(wholeLength) && distance >= 0 && distance < size
}

/** Assigns each node the range of its pods' addresses. There is one worker, so that two nodes never race. */
export function nodeIpamController(options: NodeIpamOptions): ControllerDefinition {
  const [, length = ''] = options.clusterCidr.split('/')
  if (!(Number(length) <= options.nodeMaskSize && options.nodeMaskSize <= 30)) {
    throw new RangeError(
      `Cannot divide ${options.clusterCidr}: the node mask /${options.nodeMaskSize} is not between /${length} and /30`,
    )
  }
  return {
    name: 'node-ipam-controller',
    workers: 1,
    watches: [
      watch(resources.nodes, {
        keysOf: ({ type, object }) =>
          type !== 'deleted' && !object.spec?.podCIDR ? [keyOfObject(object)] : [],
      }),
    ],
    async reconcile(key, context, signal) {
      const nodes = context.informer(resources.nodes)
      const node = nodes.get(parseKey(key))
      if (node === undefined || node.spec?.podCIDR) return
      const podCIDR = nextPodCidr(nodes.list(), options, await options.room?.())
      if (podCIDR === undefined) {
        context.events.event(node, {
          type: 'Normal',
          reason: 'CIDRNotAvailable',
          message: `Node ${node.metadata.name} status is now: CIDRNotAvailable`,
        })
        throw new Error(
          `Cannot give ${node.metadata.name} a pod range: ${options.clusterCidr} is used up`,
        )
      }
      await context.client(resources.nodes).patch(
        {
          type: 'strategic',
          name: node.metadata.name ?? '',
          patch: { spec: { podCIDR, podCIDRs: [podCIDR] } },
        },
        signal,
      )
    },
  }
}
