import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '@skerry/api'
import { planTaints } from './node-health.ts'
import { EvictionPace, planEvictions } from './zone-disruption.ts'

function nodes(zone: string, ready: number, silent: number): Node[] {
  return Array.from({ length: ready + silent }, (_, index) => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: `${zone}${index}`, labels: { 'topology.kubernetes.io/zone': zone } },
    status: { conditions: [{ type: 'Ready', status: index < ready ? 'True' : 'Unknown' }] },
  }))
}

const rows: { name: string; nodes: Node[]; rate: number | 'stopped' }[] = [
  { name: 'one of three nodes', nodes: nodes('a', 2, 1), rate: 0.1 },
  { name: 'the only node', nodes: nodes('a', 0, 1), rate: 'stopped' },
  {
    name: 'all nodes of all zones',
    nodes: [...nodes('a', 0, 2), ...nodes('b', 0, 1)],
    rate: 'stopped',
  },
  { name: 'a whole zone of two', nodes: [...nodes('a', 0, 3), ...nodes('b', 1, 0)], rate: 0.1 },
  { name: 'most of a small zone', nodes: nodes('a', 2, 3), rate: 0 },
  { name: 'most of a large zone', nodes: nodes('a', 20, 60), rate: 0.01 },
]

for (const row of rows) {
  test(`the rate of evictions depends on the zone when ${row.name} fell silent`, () => {
    const plan = planEvictions(row.nodes)
    assert.equal(plan.areStopped ? 'stopped' : plan.rates.get('/a'), row.rate)
  })
}

test('nodes are emptied one after the other', () => {
  const pace = new EvictionPace()
  const take = (nowMs: number): boolean => pace.take('a', { rate: 0.1, nowMs })
  assert.deepEqual([take(0), take(5_000), take(10_000), take(10_001)], [true, false, true, false])
})

test('a node whose turn has not come takes no new pods, and keeps those it has', () => {
  const [silent] = nodes('a', 0, 1)
  assert.ok(silent)
  const keys = (noExecute: 'allowed' | 'kept' | 'stopped'): string[] =>
    (planTaints(silent, '2026-01-01T00:00:00Z', noExecute) ?? []).map(({ effect }) => effect)
  assert.deepEqual(keys('allowed'), ['NoSchedule', 'NoExecute'])
  assert.deepEqual(keys('kept'), ['NoSchedule'])
  const spec = { taints: planTaints(silent, '2026-01-01T00:00:00Z') ?? [] }
  const emptied = { ...silent, spec }
  assert.equal(planTaints(emptied, '', 'kept'), undefined)
  assert.deepEqual(
    planTaints(emptied, '', 'stopped')?.map(({ effect }) => effect),
    ['NoSchedule'],
  )
})
