import assert from 'node:assert/strict'
import { test } from 'node:test'
import { settingsOf } from './unit-settings.ts'
import type { NodeUnit } from './unit.ts'

function unit(
  name: string,
  spec: NonNullable<NodeUnit['spec']>,
  labels: Record<string, string> = {},
): NodeUnit {
  return {
    apiVersion: 'site.superedge.io/v1alpha2',
    kind: 'NodeUnit',
    metadata: { name, labels },
    spec,
  }
}

const taint = { key: 'hall', value: 'a', effect: 'NoSchedule' } as const
const hall = unit(
  'hall-a',
  {
    unschedulable: true,
    setNode: {
      labels: { hall: 'a' },
      annotations: { contact: 'bob' },
      taints: [{ ...taint, timeAdded: '2026-11-01T00:00:00Z' }],
    },
  },
  { region: 'nodegroups.superedge.io' },
)

test('a node gets its unit’s and group’s labels, and all that the unit sets', () => {
  assert.deepEqual(settingsOf([hall]), {
    units: ['hall-a'],
    marks: { 'hall-a': 'nodeunits.superedge.io' },
    labels: { 'hall-a': 'nodeunits.superedge.io', region: 'hall-a', hall: 'a' },
    annotations: { contact: 'bob' },
    taints: [taint],
    isUnschedulable: true,
    conflicts: [],
  })
})

test('of two units that set one label, the first wins, and the other is named', () => {
  const other = unit('hall-b', { setNode: { labels: { hall: 'b' } } })
  const { labels, conflicts } = settingsOf([hall, other])
  assert.equal(labels['hall'], 'a')
  assert.deepEqual(conflicts, [{ unit: 'hall-b', setting: 'label hall', other: 'hall-a' }])
})
