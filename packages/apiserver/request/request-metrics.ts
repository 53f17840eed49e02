import type { Metrics } from '@skerry/base'
import type { RequestInfo } from '../contract/request-info.ts'

export interface RequestMetrics {
  observe(info: RequestInfo, outcome: { status: number; durationMs: number }): void
}

/** Uses upstream's names, so that its dashboards work. */
export function createRequestMetrics(metrics: Metrics): RequestMetrics {
  const total = metrics.counter('apiserver_request_total', 'Answered requests.', [
    'verb',
    'group',
    'version',
    'resource',
    'subresource',
    'code',
  ])
  const seconds = metrics.histogram(
    'apiserver_request_duration_seconds',
    'Time from a request to the start of its answer.',
    { labels: ['verb', 'resource'], buckets: [0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60] },
  )
  return {
    observe(info, { status, durationMs }) {
      const { group, version, resource } = info.resource
      const { subresource } = info
      const verb = info.isResourceRequest ? info.verb.toUpperCase() : info.method
      total.inc({ verb, group, version, resource, subresource, code: String(status) })
      if (info.verb !== 'watch') seconds.observe({ verb, resource }, durationMs / 1000)
    },
  }
}
