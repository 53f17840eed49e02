import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cluster, ClusterCondition } from '@skerry/fleet-kinds'
import { clusterState } from './cluster-state.ts'
import type { TunnelReport, TunnelsReport } from './tunnel-report.ts'

const condition = (status: 'True' | 'False', reason: string, time: string): ClusterCondition => ({
  type: 'Connected',
  status,
  reason,
  message: '',
  lastTransitionTime: time,
})

function cluster(...conditions: ClusterCondition[]): Cluster {
  return {
    apiVersion: 'cluster.karmada.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name: 'edge' },
    spec: { syncMode: 'Pull' },
    status: { conditions, nodeSummary: { totalNum: 3, readyNum: 2 } },
  }
}

const tunnel = (openedAt: string, more: Partial<TunnelReport> = {}): TunnelReport => ({
  rttMs: 20,
  bytesIn: 100,
  bytesOut: 10,
  bytesInPerSecond: 5,
  bytesOutPerSecond: 1,
  streams: 2,
  bufferedBytes: 0,
  queuedBytes: 0,
  openedAt,
  lastHeard: '2026-01-01T12:00:00.000Z',
  agent: null,
  ...more,
})

const away: TunnelsReport = { cluster: 'edge', isConnected: false, tunnels: [], lastEnd: null }
const end = { reason: 'nothing heard for 25 s', at: '2026-01-01T11:30:00.000Z' }
const lease = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: {},
  spec: { renewTime: '2026-01-01T11:29:00.000000Z' },
}

test('two agents count as one connection: sums, the round trip of the answering one, the longest time', () => {
  const report = {
    ...away,
    isConnected: true,
    tunnels: [
      tunnel('2026-01-01T11:00:00.000Z', { rttMs: 7, lastHeard: '2026-01-01T12:00:03.000Z' }),
      tunnel('2026-01-01T10:00:00.000Z'),
    ],
    lastEnd: end,
  }
  const state = clusterState({ cluster: cluster(), lease, report })
  assert.deepEqual(
    [state.tunnel, state.since, state.lastSeen, state.rttMs],
    ['open', '2026-01-01T10:00:00.000Z', '2026-01-01T12:00:03.000Z', 7],
  )
  assert.deepEqual([state.bytesIn, state.bytesOut, state.streams], [200, 20, 4])
  assert.deepEqual([state.bytesInPerSecond, state.bytesOutPerSecond], [10, 2])
  assert.deepEqual(state.nodes, { ready: 2, total: 3 })
  assert.deepEqual(state.lastEnd, end)
})

const table: readonly {
  what: string
  object: Cluster
  report: TunnelsReport
  since: string | null
}[] = [
  {
    what: 'never connected: since no time',
    object: cluster(condition('False', 'NeverConnected', '2026-01-01T09:00:00Z')),
    report: away,
    since: null,
  },
  {
    what: 'the object knows it for longer than this process, over a restart of the hub',
    object: cluster(condition('False', 'TunnelClosed', '2026-01-01T08:00:00Z')),
    report: { ...away, lastEnd: end },
    since: '2026-01-01T08:00:00Z',
  },
  {
    what: 'the object does not know yet that it ended',
    object: cluster(condition('True', 'TunnelOpen', '2026-01-01T08:00:00Z')),
    report: { ...away, lastEnd: end },
    since: end.at,
  },
  {
    what: 'the object does not know yet that it is open',
    object: cluster(condition('False', 'TunnelClosed', '2026-01-01T08:00:00Z')),
    report: { ...away, isConnected: true, tunnels: [tunnel('2026-01-01T11:59:00.000Z')] },
    since: '2026-01-01T11:59:00.000Z',
  },
]

for (const { what, object, report, since } of table) {
  test(`since when: ${what}`, () => {
    const state = clusterState({ cluster: object, lease, report })
    assert.equal(state.since, since)
    assert.equal(state.tunnel, report.isConnected ? 'open' : 'closed')
    if (!report.isConnected) assert.equal(state.lastSeen, '2026-01-01T11:29:00.000000Z')
  })
}

test('a cluster in push mode has no tunnel that could be closed', () => {
  const pushed = { ...cluster(), spec: { syncMode: 'Push' as const } }
  const { tunnel: shown, since } = clusterState({ cluster: pushed, lease: undefined, report: away })
  assert.deepEqual([shown, since], ['none', null])
})
