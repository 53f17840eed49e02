import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '@skerry/api'
import { planNode, settingsOf, type NodePatch } from './node-settings.ts'
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

function node(labels: Record<string, string> = {}, spec: NonNullable<Node['spec']> = {}): Node {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', labels }, spec }
}

const settingsAnnotation = 'edge.skerry.io/set-by-units'
const noUnits = settingsOf([])

/** Returns the node after the patch, as a server merges it. */
function patched(before: Node, patch: NodePatch | undefined): Node {
  if (!patch) return before
  const merged = (values: Record<string, string> = {}, changes: object): Record<string, string> =>
    Object.fromEntries(
      Object.entries({ ...values, ...changes }).filter(([, value]) => value !== null),
    )
  const { unschedulable, ...spec } = { ...before.spec, ...patch.spec }
  return {
    ...before,
    metadata: {
      ...before.metadata,
      labels: merged(before.metadata.labels, patch.metadata.labels),
      annotations: merged(before.metadata.annotations, patch.metadata.annotations),
    },
    spec: { ...spec, ...(unschedulable === true ? { unschedulable } : {}) },
  }
}

const hall = unit(
  'hall-a',
  {
    unschedulable: true,
    setNode: {
      labels: { hall: 'a' },
      annotations: { contact: 'bob' },
      taints: [{ key: 'hall', value: 'a', effect: 'NoSchedule' }],
    },
  },
  { region: 'nodegroups.superedge.io' },
)

test('a node gets its unit’s and group’s labels, and all that the unit sets', () => {
  const { metadata, spec } = patched(node(), planNode(node(), settingsOf([hall])))
  assert.deepEqual(metadata.labels, {
    'hall-a': 'nodeunits.superedge.io',
    region: 'hall-a',
    hall: 'a',
  })
  assert.equal(metadata.annotations?.['contact'], 'bob')
  assert.deepEqual(spec, {
    taints: [{ key: 'hall', value: 'a', effect: 'NoSchedule' }],
    unschedulable: true,
  })
})

const nodesBefore: readonly Node[] = [
  node({ own: 'x' }),
  node(
    { hall: 'z' },
    {
      taints: [
        { key: 'hall', value: 'old', effect: 'NoSchedule' },
        { key: 'gpu', effect: 'NoExecute' },
      ],
    },
  ),
  node({ hall: 'a' }, { unschedulable: true }),
]

test('a node that leaves its unit is as it was before', () => {
  for (const before of nodesBefore) {
    const member = patched(before, planNode(before, settingsOf([hall])))
    assert.equal(planNode(member, settingsOf([hall])), undefined, 'nothing is written twice')
    const after = patched(member, planNode(member, noUnits))
    assert.deepEqual(after.metadata.labels, before.metadata.labels)
    assert.deepEqual(after.metadata.annotations ?? {}, {})
    assert.deepEqual(after.spec?.taints ?? [], before.spec?.taints ?? [])
    assert.equal(after.spec?.unschedulable, before.spec?.unschedulable)
  }
})

test('a setting that leaves the unit leaves the node; a value that somebody changed since stays', () => {
  const member = patched(node(), planNode(node(), settingsOf([hall])))
  const less = unit('hall-a', { setNode: { annotations: { contact: 'eve' } } })
  const left = patched(member, planNode(member, settingsOf([less])))
  assert.deepEqual(left.metadata.labels, { 'hall-a': 'nodeunits.superedge.io' })
  assert.deepEqual(left.spec, { taints: [] })
  assert.equal(left.metadata.annotations?.['contact'], 'eve')
  const edited = {
    ...left,
    metadata: {
      ...left.metadata,
      annotations: { ...left.metadata.annotations, contact: 'mallory' },
    },
  }
  const gone = patched(edited, planNode(edited, noUnits))
  assert.deepEqual(gone.metadata.annotations, { contact: 'mallory' })
})

test('a setting that is removed from a member by hand is put back', () => {
  const member = patched(node(), planNode(node(), settingsOf([hall])))
  const { hall: _removed, ...labels } = member.metadata.labels ?? {}
  const stripped = { ...member, metadata: { ...member.metadata, labels }, spec: {} }
  const again = patched(stripped, planNode(stripped, settingsOf([hall])))
  assert.deepEqual(again, member)
})

test('settings that SuperEdge’s controller made go with the unit, too', () => {
  const taken = node({ 'hall-a': 'nodeunits.superedge.io', hall: 'a', own: 'x' })
  const member = patched(taken, planNode(taken, settingsOf([hall])))
  const after = patched(member, planNode(member, noUnits))
  assert.deepEqual(after.metadata.labels, { own: 'x' })
})

test('of two units that set one label, the first wins, and the other is named', () => {
  const other = unit('hall-b', { setNode: { labels: { hall: 'b' } } })
  const { labels, conflicts } = settingsOf([hall, other])
  assert.equal(labels['hall'], 'a')
  assert.deepEqual(conflicts, [{ unit: 'hall-b', setting: 'label hall', other: 'hall-a' }])
})

test('an annotation that a person broke counts as nothing', () => {
  const broken: Node = {
    ...node({ own: 'x' }),
    metadata: { name: 'n1', annotations: { [settingsAnnotation]: '{' } },
  }
  assert.deepEqual(planNode(broken, noUnits)?.metadata.annotations, { [settingsAnnotation]: null })
})
