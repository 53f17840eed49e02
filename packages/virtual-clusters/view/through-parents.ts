import type { TunnelRegistry, TunnelRequest } from '@skerry/tunnel'
import { connectVirtual, isConnect } from '@skerry/gateway'
import { towardsVirtual } from './virtual-request.ts'

type Way = Pick<TunnelRegistry, 'send' | 'upgrade'>

/**
 * Returns the way to the clusters of a hub, including virtual ones: those have no tunnel, and are reached
 * through their parent's, with the virtual cluster named in the request. `parentOf` returns undefined for all
 * other clusters.
 */
export function throughParents(way: Way, parentOf: (cluster: string) => string | undefined): Way {
  const led = (cluster: string, request: TunnelRequest): [string, TunnelRequest] => {
    const parent = parentOf(cluster)
    if (parent === undefined) return [cluster, request]
    if (isConnect(request)) return [parent, connectVirtual(request, cluster)]
    return [parent, towardsVirtual(request, cluster)]
  }
  return {
    send: async (cluster, request, signal) => way.send(...led(cluster, request), signal),
    upgrade: async (cluster, request, signal) => way.upgrade(...led(cluster, request), signal),
  }
}
