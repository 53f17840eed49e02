import { StatusError } from '@skerry/api'
import type { TunnelRegistry, TunnelRequest } from '@skerry/tunnel'
import { isConnect } from '../../services/service-link.ts'
import { towardsVirtual } from './virtual-request.ts'

type Way = Pick<TunnelRegistry, 'send' | 'upgrade'>

/**
 * The way to the clusters of a hub, virtual ones among them: those have no tunnel of their own, and are
 * reached by their parent's, whose agent is told which one is meant. `parentOf` is undefined of all
 * other clusters. Rejects with StatusError NotFound where a virtual cluster's services are asked for.
 */
export function throughParents(way: Way, parentOf: (cluster: string) => string | undefined): Way {
  const led = (cluster: string, request: TunnelRequest): [string, TunnelRequest] => {
    const parent = parentOf(cluster)
    if (parent === undefined) return [cluster, request]
    if (isConnect(request)) throw noServices(cluster, parent)
    return [parent, towardsVirtual(request, cluster)]
  }
  return {
    send: async (cluster, request, signal) => way.send(...led(cluster, request), signal),
    upgrade: async (cluster, request, signal) => way.upgrade(...led(cluster, request), signal),
  }
}

/** An operator allows services of the whole cluster, by the names that they have there. */
function noServices(cluster: string, parent: string): StatusError {
  const text = `Cannot reach services of virtual cluster "${cluster}": ask its parent "${parent}", by the namespace that they have there`
  return new StatusError('NotFound', text)
}
