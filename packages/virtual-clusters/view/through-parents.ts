import type { Wrapper } from '@skerry/base'
import type { TunnelRequest } from '@skerry/tunnel'
import { connectVirtual, isConnect, type ClusterWay } from '@skerry/gateway'
import { towardsVirtual } from './virtual-request.ts'

/**
 * Sends requests for virtual clusters, which have no tunnel, through the tunnel of their parent, and names the
 * virtual cluster in the request. `parentOf` returns undefined for all other clusters.
 */
export function throughParents(
  parentOf: (cluster: string) => string | undefined,
): Wrapper<ClusterWay> {
  const led = (cluster: string, request: TunnelRequest): [string, TunnelRequest] => {
    const parent = parentOf(cluster)
    if (parent === undefined) return [cluster, request]
    if (isConnect(request)) return [parent, connectVirtual(request, cluster)]
    return [parent, towardsVirtual(request, cluster)]
  }
  return (way) => ({
    send: async (cluster, request, signal) => way.send(...led(cluster, request), signal),
    upgrade: async (cluster, request, signal) => way.upgrade(...led(cluster, request), signal),
  })
}
