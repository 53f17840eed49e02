import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StatusError } from '@skerry/api'
import { createMetrics, systemClock } from '@skerry/base'
import { TunnelBusyError, TunnelRegistry, TunnelUnavailableError } from '@skerry/tunnel'
import { createHubMetrics } from './hub-metrics.ts'

const failures: readonly [error: Error, reason: string][] = [
  [new TunnelUnavailableError('edge', undefined), 'not_connected'],
  [new TunnelBusyError('Cannot send request: 1000 streams are open'), 'busy'],
  [new StatusError('ServiceUnavailable', 'Cannot reach cluster "edge": no token'), 'unreachable'],
  [new StatusError('NotFound', 'Cannot reach services of cluster "edge"'), 'bad_request'],
  [new Error('Client closed the connection'), 'client_gone'],
]

for (const [error, reason] of failures) {
  test(`${error.name} of a request to a cluster is counted as ${reason}`, async () => {
    const metrics = createMetrics()
    const own = new TunnelRegistry({}, systemClock)
    createHubMetrics(metrics, { own, links: own }).onFailure(error)
    const counted = /^skerry_hub_requests_refused_total\{reason="(\w+)"\} 1$/m
    assert.equal(counted.exec(await metrics.text())?.[1], reason)
  })
}
