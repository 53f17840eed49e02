import type { TunnelRegistry, TunnelRequest } from '@skerry/tunnel'
import { connectVirtual, isConnect } from '@skerry/gateway'
import { towardsVirtual } from './virtual-request.ts'

type Way = Pick<TunnelRegistry, 'send' | 'upgrade'>

/**
 * The way to the clusters of a hub, virtual ones among them: those have no tunnel of their own, and are
 * reached by their parent's, whose agent is told which one is meant. `parentOf` is undefined of all
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
