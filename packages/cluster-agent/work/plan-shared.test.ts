import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AnyObject } from '@skerry/api'
import { createMapping } from '../../virtual-clusters/mapping/mapping.ts'
import { createNamespaceRule } from '../../virtual-clusters/mapping/namespace-rule.ts'
import { planLeaving, planShared } from './plan-shared.ts'
import { isPresent, sharersOf } from './shared-object.ts'

function sent(clusterName: string, description: string): AnyObject {
  const group = { clusterName, namespaces: createNamespaceRule({ clusterName }) }
  return createMapping(group).toMember({
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: 'till' },
    description,
  })
}

/** Returns the object after these have sent it one after the other; each word is a cluster and its wish. */
function after(...wishes: string[]): AnyObject {
  let object: AnyObject | undefined
  for (const [cluster = '', description = ''] of wishes.map((wish) => wish.split(':'))) {
    const { note } = plan(cluster, description, object)
    if (object && note) object = patched(object, note)
    if (plan(cluster, description, object).act === 'refuse') continue
    const desired = sent(cluster, description)
    const annotations = { ...object?.metadata.annotations, ...desired.metadata.annotations }
    object = { ...desired, metadata: { ...desired.metadata, annotations } }
  }
  assert.ok(object)
  return object
}

function plan(cluster: string, description: string, observed: AnyObject | undefined) {
  return planShared({ cluster, desired: sent(cluster, description), observed })
}

/** Applies a merge patch of annotations as a server does. */
function patched(object: AnyObject, patch: object): AnyObject {
  const { metadata } = patch as { metadata: { annotations: Record<string, string | null> } }
  const merged = { ...object.metadata.annotations, ...metadata.annotations }
  const kept = Object.entries(merged).flatMap(([key, value]) =>
    value === null ? [] : [[key, value] as const],
  )
  return { ...object, metadata: { ...object.metadata, annotations: Object.fromEntries(kept) } }
}

function sharers(object: AnyObject): string[] {
  return [...sharersOf(object).keys()].toSorted()
}

test('a shared object changes when all virtual clusters want the change, never before', () => {
  const table: [wishes: string[], description: string, by: string[]][] = [
    [['east:a'], 'a', ['east']],
    [['east:a', 'east:b'], 'b', ['east']],
    [['east:a', 'west:a'], 'a', ['east', 'west']],
    [['east:a', 'west:b'], 'a', ['east', 'west']],
    [['east:a', 'west:a', 'east:b'], 'a', ['east', 'west']],
    [['east:a', 'west:a', 'east:b', 'west:b'], 'b', ['east', 'west']],
    [['east:a', 'west:b', 'north:b', 'east:a'], 'a', ['east', 'north', 'west']],
  ]
  for (const [wishes, description, by] of table) {
    const object = after(...wishes)
    assert.equal(object['description'], description, wishes.join(' '))
    assert.deepEqual(sharers(object), by, wishes.join(' '))
  }
})

test('a virtual cluster that wants a change learns which others are against it', () => {
  const refused = plan('north', 'b', after('east:a', 'west:a'))
  assert.equal(refused.act, 'refuse')
  assert.equal(
    refused.why,
    'Cannot have PriorityClass "till": it differs from the object that virtual cluster "east", "west" has sent, and they share it: send the same to all of them',
  )
  assert.ok(refused.note)
  const again = plan('north', 'b', after('east:a', 'west:a', 'north:b'))
  assert.equal(again.act, 'refuse')
  assert.equal(again.note, undefined, 'it is noted once')
  assert.equal(plan('east', 'a', after('east:a', 'north:b')).act, 'have', 'the first goes on')
})

test('fields that a cluster fills in make no difference; changes that somebody makes do', () => {
  const desired = sent('east', 'a')
  assert.equal(isPresent(desired, { ...desired, preemptionPolicy: 'PreemptLowerPriority' }), true)
  assert.equal(isPresent(desired, { ...desired, description: 'b' }), false)
  assert.equal(isPresent(desired, sent('east', 'b')), false)
})

test("the edge cluster's own objects are left alone, whatever a manifest says", () => {
  const own: AnyObject = {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: 'till', labels: { 'karmada.io/managed': 'true' } },
  }
  const refused = plan('east', 'a', own)
  assert.equal(refused.act, 'refuse')
  assert.match(refused.why, /is the edge cluster's own/)
  const plain = planShared({ cluster: 'edge', desired: own, observed: after('east:a') })
  assert.equal(plain.act, 'refuse')
  assert.match(plain.why, /is shared by virtual clusters/)
})

test('a namespace is taken over from nobody', () => {
  const group = { clusterName: 'east', namespaces: createNamespaceRule({ clusterName: 'east' }) }
  const shop = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }
  const desired = createMapping(group).toMember(shop)
  const there = (labels: Record<string, string>): AnyObject => ({
    ...shop,
    metadata: { name: 'shop-east', labels: { 'karmada.io/managed': 'true', ...labels } },
  })
  const plannedFor = (observed: AnyObject) => {
    const planned = planShared({ cluster: 'east', desired, observed })
    return planned.act === 'refuse' ? planned.why : planned.act
  }
  assert.equal(plannedFor(there({ 'edge.skerry.io/virtual-cluster': 'east' })), 'have')
  assert.equal(
    plannedFor(there({ 'edge.skerry.io/virtual-cluster': 'west' })),
    'Cannot have Namespace "shop-east": it already exists, and is virtual cluster "west"\'s: it is left alone',
  )
  assert.match(plannedFor(there({})), /is the edge cluster's own: it is left alone$/)
})

test('a shared object goes with the last virtual cluster that wanted it', () => {
  const leave = (cluster: string, observed: AnyObject) =>
    planLeaving({ cluster, desired: sent(cluster, 'a'), observed })
  const both = after('east:a', 'west:a')
  const first = leave('east', both)
  assert.equal(first.act, 'part')
  const left = patched(both, first.patch)
  assert.deepEqual(sharers(left), ['west'])
  assert.deepEqual(leave('east', left), { act: 'leave' }, 'it is no more of this one')
  const last = leave('west', left)
  assert.equal(last.act, 'part')
  const nobodys = patched(left, last.patch)
  assert.deepEqual(leave('west', nobodys), { act: 'take' })
  assert.deepEqual(plan('east', 'b', nobodys).act, 'have', 'until then it may be wanted again')
})
