import { asError, type Clock, type Logger, type Wrapper } from '@skerry/base'
import type { TunnelRequest, TunnelUpgraded } from '@skerry/tunnel'
import type { HubMetrics } from '../state/hub-metrics.ts'
import type { ClusterWay } from './cluster-way.ts'

export interface ObservedWayDeps {
  readonly metrics: Pick<HubMetrics, 'onAnswer' | 'onFailure'>
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly log: Logger
}

/** Counts each request, and logs it by its audit id. */
export function observedWay({ metrics, clock, log }: ObservedWayDeps): Wrapper<ClusterWay> {
  const observe = async <Answer extends TunnelUpgraded>(
    { cluster, request, isUpgrade }: Asked,
    ask: () => Promise<Answer>,
  ): Promise<Answer> => {
    const startMs = clock.monotonicMs()
    const { method, headers } = request
    const auditId = String(headers['audit-id'] ?? '')
    const fields = { auditId, cluster, method }
    try {
      const answer = await ask()
      const ms = clock.monotonicMs() - startMs
      metrics.onAnswer(request, isUpgrade, ms)
      log.debug('Cluster answered', { ...fields, status: answer.status, ms: Math.round(ms) })
      return answer
    } catch (error) {
      const cause = asError(error)
      metrics.onFailure(cause)
      log.debug('Cluster did not answer', { ...fields, error: cause })
      throw error
    }
  }
  return (way) => ({
    send: (cluster, request, signal) =>
      observe({ cluster, request, isUpgrade: false }, () => way.send(cluster, request, signal)),
    upgrade: (cluster, request, signal) =>
      observe({ cluster, request, isUpgrade: true }, () => way.upgrade(cluster, request, signal)),
  })
}

interface Asked {
  readonly cluster: string
  readonly request: TunnelRequest
  readonly isUpgrade: boolean
}
