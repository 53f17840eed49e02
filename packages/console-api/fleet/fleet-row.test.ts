import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cluster } from '@skerry/fleet-kinds'
import type { EdgeCluster } from '@skerry/provisioning'
import { fleetRow } from './fleet-row.ts'

const since = '2026-11-29T08:00:00Z'
const own = {
  ready: { tunnels: 1, conditions: [['Ready', 'True']] },
  degraded: { tunnels: 1, conditions: [['Ready', 'True']], nodes: { readyNum: 1, totalNum: 2 } },
  failed: { tunnels: 1, conditions: [['Ready', 'False']] },
  away: {
    tunnels: 0,
    conditions: [
      ['Connected', 'False'],
      ['Ready', 'True'],
    ],
  },
  pending: { tunnels: 0, conditions: [] },
}

function stateOf(state: keyof typeof own, phase?: string): string {
  const { tunnels, conditions, ...others } = own[state]
  const cluster: Cluster = {
    apiVersion: 'cluster.karmada.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name: 'shop-7' },
    spec: { syncMode: 'Pull' },
    status: {
      conditions: conditions.map(([type = '', status = '']) => ({
        type,
        status: status === 'True' ? 'True' : 'False',
        reason: 'Test',
        message: '',
        lastTransitionTime: since,
      })),
      ...('nodes' in others ? { nodeSummary: others.nodes } : {}),
    },
  }
  // The row reads nothing else of it.
  const edgeCluster = { metadata: {}, spec: {}, status: { phase } } as unknown as EdgeCluster
  const { s, t } = fleetRow({
    cluster,
    tunnels,
    lastEnd: undefined,
    lease: undefined,
    edgeCluster: phase === undefined ? undefined : edgeCluster,
  })
  return s === 'away' ? `${s} since ${t}` : s
}

test('work on its machines hides no cluster that is away, failed, or, if the work rests, degraded', () => {
  const away = `away since ${Date.parse(since) / 1_000}`
  const table: readonly (readonly [keyof typeof own, string | undefined, string])[] = [
    ['ready', undefined, 'ready'],
    ['ready', 'Ready', 'ready'],
    ['ready', 'Running', 'working'],
    ['ready', 'Paused', 'suspended'],
    ['ready', 'Failed', 'failed'],
    ['pending', 'Waiting', 'working'],
    ['pending', 'Paused', 'suspended'],
    ['degraded', 'Running', 'working'],
    ['degraded', 'Paused', 'degraded'],
    ['failed', 'Running', 'failed'],
    ['failed', 'Paused', 'failed'],
    ['away', 'Running', away],
    ['away', 'Paused', away],
    ['away', 'Failed', away],
    ['away', undefined, away],
  ]
  for (const [state, phase, wanted] of table) {
    assert.equal(stateOf(state, phase), wanted, `${state} with ${phase}`)
  }
})
