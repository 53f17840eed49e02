import { StatusError } from '@skerry/api'
import type { Wrapper } from '@skerry/base'
import type { TunnelHandler, TunnelRequest } from '@skerry/tunnel'
import { isConnect, type ClusterWay } from '@skerry/gateway'
import { unreachable, type PushForwarders } from './push-forwarders.ts'
import type { PushPlans } from './push-target.ts'

/**
 * Dials clusters in push mode, as the user who asks; each replica that is asked dials them. Requests for all
 * other clusters go on.
 */
export function pushedWay(planOf: PushPlans, forwarders: PushForwarders): Wrapper<ClusterWay> {
  const handlerOf = (cluster: string, request: TunnelRequest): TunnelHandler | undefined => {
    const plan = planOf(cluster)
    if (plan === undefined) {
      forwarders.close(cluster)
      return undefined
    }
    if ('refusal' in plan) throw unreachable(cluster, plan.refusal)
    if (isConnect(request)) {
      throw new StatusError(
        'NotFound',
        `Cannot reach services of cluster "${cluster}": it is in push mode, and only an agent reaches services`,
      )
    }
    return forwarders.to(cluster, plan.target)
  }
  return (way) => ({
    async send(cluster, request, signal) {
      const handler = handlerOf(cluster, request)
      return handler ? handler.onRequest(request, signal) : way.send(cluster, request, signal)
    },
    async upgrade(cluster, request, signal) {
      const handler = handlerOf(cluster, request)
      return handler ? handler.onUpgrade(request, signal) : way.upgrade(cluster, request, signal)
    },
  })
}
