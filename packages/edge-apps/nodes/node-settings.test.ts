import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '@skerry/api'
import { planNode, type NodePatch, type NodeSettings } from './node-settings.ts'

const remembersIn = 'edge.skerry.io/set-by-halls'
const none: NodeSettings = {
  units: [],
  marks: {},
  labels: {},
  annotations: {},
  taints: [],
  isUnschedulable: false,
}
const hall: NodeSettings = {
  units: ['hall-a'],
  marks: { 'hall-a': 'halls.example.com' },
  labels: { 'hall-a': 'halls.example.com', hall: 'a' },
  annotations: { contact: 'bob' },
  taints: [{ key: 'hall', value: 'a', effect: 'NoSchedule' }],
  isUnschedulable: true,
}

const plan = (before: Node, settings: NodeSettings): NodePatch | undefined =>
  planNode(before, settings, remembersIn)

function node(labels: Record<string, string> = {}, spec: NonNullable<Node['spec']> = {}): Node {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', labels }, spec }
}

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

test('a node that leaves its set is as it was before', () => {
  for (const before of nodesBefore) {
    const member = patched(before, plan(before, hall))
    assert.equal(plan(member, hall), undefined, 'nothing is written twice')
    const after = patched(member, plan(member, none))
    assert.deepEqual(after.metadata.labels, before.metadata.labels)
    assert.deepEqual(after.metadata.annotations ?? {}, {})
    assert.deepEqual(after.spec?.taints ?? [], before.spec?.taints ?? [])
    assert.equal(after.spec?.unschedulable, before.spec?.unschedulable)
  }
})

test('a setting that leaves the set leaves the node; a value that somebody changed since stays', () => {
  const member = patched(node(), plan(node(), hall))
  const less = { ...none, units: hall.units, annotations: { contact: 'eve' } }
  const left = patched(member, plan(member, less))
  assert.deepEqual(left.metadata.labels, {})
  assert.deepEqual(left.spec, { taints: [] })
  assert.equal(left.metadata.annotations?.['contact'], 'eve')
  const edited = {
    ...left,
    metadata: {
      ...left.metadata,
      annotations: { ...left.metadata.annotations, contact: 'mallory' },
    },
  }
  const gone = patched(edited, plan(edited, none))
  assert.deepEqual(gone.metadata.annotations, { contact: 'mallory' })
})

test('a setting that is removed from a member by hand is put back', () => {
  const member = patched(node(), plan(node(), hall))
  const { hall: _removed, ...labels } = member.metadata.labels ?? {}
  const stripped = { ...member, metadata: { ...member.metadata, labels }, spec: {} }
  const again = patched(stripped, plan(stripped, hall))
  assert.deepEqual(again, member)
})

test('settings that another program made of the same set go with it, too', () => {
  const taken = node({ 'hall-a': 'halls.example.com', hall: 'a', own: 'x' })
  const member = patched(taken, plan(taken, hall))
  const after = patched(member, plan(member, none))
  assert.deepEqual(after.metadata.labels, { own: 'x' })
})

test('an annotation that a person broke counts as nothing', () => {
  const broken: Node = {
    ...node({ own: 'x' }),
    metadata: { name: 'n1', annotations: { [remembersIn]: '{' } },
  }
  assert.deepEqual(plan(broken, none)?.metadata.annotations, { [remembersIn]: null })
})
