import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OwnerReference } from '@skerry/api'
import type { PartialObject } from '@skerry/client'
import {
  planCollection,
  unseenOwner,
  type CollectionPlan,
  type OwnerState,
} from './collection-plan.ts'
import { OwnerGraph, nodeOf } from './owner-graph.ts'

const resource = { group: '', version: 'v1', resource: 'things', isNamespaced: true }

interface Traits {
  owners?: readonly string[]
  namespace?: string
  finalizers?: string[]
  isGoing?: boolean
}

function thing(uid: string, traits: Traits = {}): PartialObject {
  const { owners = [], namespace = 'a', finalizers = [], isGoing } = traits
  return {
    apiVersion: 'v1',
    kind: 'Thing',
    metadata: {
      name: uid,
      uid,
      namespace,
      finalizers,
      ownerReferences: owners.map((owner) => reference(owner)),
      ...(isGoing ? { deletionTimestamp: 'now' } : {}),
    },
  }
}

function reference(uid: string): OwnerReference {
  return { apiVersion: 'v1', kind: 'Thing', name: uid, uid, blockOwnerDeletion: true }
}

const dependents = [
  nodeOf(thing('d', { isGoing: true, finalizers: ['foregroundDeletion'] }), resource),
]

const plans: [
  string,
  OwnerState[],
  Partial<Parameters<typeof planCollection>[0]>,
  CollectionPlan,
][] = [
  ['without owners stays', [], {}, { action: 'keep' }],
  ['with a living owner stays', ['solid'], {}, { action: 'keep' }],
  [
    'with one living and one lost owner lets go of the lost one',
    ['solid', 'absent'],
    {},
    { action: 'drop-owners', ownerReferences: [reference('0')] },
  ],
  [
    'that lost its last owner goes',
    ['absent', 'absent'],
    {},
    { action: 'delete', propagationPolicy: 'Background', unblockOwners: false },
  ],
  [
    'that is to be orphaning goes so',
    ['absent'],
    { object: thing('x', { finalizers: ['orphan'] }) },
    { action: 'delete', propagationPolicy: 'Orphan', unblockOwners: false },
  ],
  [
    'whose owner waits for it, and that has dependents itself, goes in the foreground',
    ['waiting-for-dependents'],
    { dependents: [nodeOf(thing('d'), resource)] },
    { action: 'delete', propagationPolicy: 'Foreground', unblockOwners: false },
  ],
  [
    'in a cycle of waiting unblocks its owners',
    ['waiting-for-dependents'],
    { dependents },
    { action: 'delete', propagationPolicy: 'Foreground', unblockOwners: true },
  ],
]
for (const [name, states, given, expected] of plans) {
  test(`an object ${name}`, () => {
    const owners = states.map((state, index) => ({ reference: reference(String(index)), state }))
    assert.deepEqual(
      planCollection({ object: thing('x'), dependents: [], owners, ...given }),
      expected,
    )
  })
}

test('an object whose owner no watch has shown yet is looked at again', () => {
  const table: readonly [OwnerState, readonly string[], string | undefined][] = [
    ['solid', [], 'owner'],
    ['waiting-for-dependents', [], 'owner'],
    ['solid', ['owner'], undefined],
    ['absent', [], undefined],
  ]
  for (const [state, seen, expected] of table) {
    const owners = [{ reference: reference('owner'), state }]
    assert.equal(unseenOwner(owners, (uid) => seen.includes(uid))?.uid, expected, state)
  }
})

test('after the deletion of an owner its dependents are looked at', () => {
  const graph = new OwnerGraph()
  graph.put(nodeOf(thing('owner'), resource))
  assert.deepEqual(graph.put(nodeOf(thing('x', { owners: ['owner'] }), resource)), [])
  assert.deepEqual(graph.remove('owner'), ['x'])
})

test('an owner of the same uid in another namespace is not believed', () => {
  const graph = new OwnerGraph()
  graph.put(nodeOf(thing('owner', { namespace: 'b' }), resource))
  assert.deepEqual(graph.put(nodeOf(thing('x', { owners: ['owner'] }), resource)), ['x'])
})

test('an owner that waits for its dependents is looked at when one of them goes', () => {
  const graph = new OwnerGraph()
  graph.put(nodeOf(thing('x', { owners: ['owner'] }), resource))
  const waiting = thing('owner', { isGoing: true, finalizers: ['foregroundDeletion'] })
  assert.deepEqual(graph.put(nodeOf(waiting, resource)), ['owner', 'x'])
  assert.equal(graph.blockingDependentsOf('owner').length, 1)
  assert.deepEqual(graph.remove('x'), ['owner'])
  assert.equal(graph.blockingDependentsOf('owner').length, 0)
})
