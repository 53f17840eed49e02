import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OwnerReference, Pod, PodCondition } from '@skerry/api'
import { resources } from '@skerry/client'
import { startTestApiServer } from '@skerry/testing'
import { startControllerWorld } from '../testing/controller-world.ts'
import { staleInMs } from './stale-disruption.ts'
import { unmanagedText } from './disruption-controller.ts'

const namespace = 'default'
const labels = { app: 'web' }

function pod(name: string, owner?: OwnerReference): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels, ...(owner ? { ownerReferences: [owner] } : {}) },
    spec: { containers: [{ name: 'main', image: 'a' }] },
  }
}

const budget = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'b', namespace },
  spec: { selector: { matchLabels: labels }, maxUnavailable: 1 },
}

test('a budget counts the pods that controllers want; a pod of an unknown controller stops evictions', async () => {
  await using api = await startTestApiServer()
  await using world = startControllerWorld({
    transport: api.transport,
    controllers: ['disruption-controller', 'replicationcontroller-controller'],
  })
  await world.client(resources.podDisruptionBudgets).create(budget, world.signal)
  const spec = { containers: [{ name: 'main', image: 'a' }] }
  await world.client(resources.replicationControllers).create(
    {
      apiVersion: 'v1',
      kind: 'ReplicationController',
      metadata: { name: 'web', namespace },
      spec: { replicas: 3, selector: labels, template: { metadata: { labels }, spec } },
    },
    world.signal,
  )
  const allowed = await world.eventually(resources.podDisruptionBudgets, ([each]) =>
    each?.status?.disruptionsAllowed === 1 ? each.status : undefined,
  )
  assert.deepEqual([allowed.expectedPods, allowed.desiredHealthy], [3, 2])
  assert.equal(allowed.conditions?.[0]?.reason, 'SufficientPods')
  const owner = { apiVersion: 'x.io/v1', kind: 'Ghost', name: 'g', uid: 'g', controller: true }
  await world.client(resources.pods).create(pod('haunted', owner), world.signal)
  const failed = await world.eventually(resources.podDisruptionBudgets, ([each]) =>
    each?.status?.conditions?.[0]?.reason === 'SyncFailed' ? each.status : undefined,
  )
  assert.equal(failed.disruptionsAllowed, 0)
  assert.equal(failed.conditions?.[0]?.message, 'found no controllers for pod "haunted"')
})

const markedAt = Date.parse('2026-01-01T00:00:00Z')

const marks: { name: string; condition: Partial<PodCondition>; afterMs: number; is: unknown }[] = [
  { name: 'a pod just marked', condition: {}, afterMs: 30_000, is: 90_000 },
  { name: 'a pod spared for two minutes', condition: {}, afterMs: 120_000, is: 0 },
  { name: 'a mark taken back', condition: { status: 'False' }, afterMs: 0, is: undefined },
  {
    name: 'a mark of the kubelet',
    condition: { reason: 'TerminationByKubelet' },
    afterMs: 0,
    is: undefined,
  },
]

for (const row of marks) {
  test(`whether DisruptionTarget is out of date: ${row.name}`, () => {
    const condition = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'EvictionByEvictionAPI',
      lastTransitionTime: '2026-01-01T00:00:00Z',
      ...row.condition,
    }
    const marked = { ...pod('p'), status: { conditions: [condition] } }
    assert.equal(staleInMs(marked, markedAt + row.afterMs), row.is)
  })
}

test('the event of unmanaged pods shows the selector', () => {
  const matchExpressions = [{ key: 'b', operator: 'In', values: ['x', 'y'] }]
  const text = unmanagedText({
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'b' },
    spec: { selector: { matchLabels: { z: '1', a: '2' }, matchExpressions } },
  })
  assert.match(
    text,
    /\(selector: &LabelSelector\{MatchLabels:map\[string\]string\{a: 2,z: 1,\},MatchExpressions:\[\]LabelSelectorRequirement\{LabelSelectorRequirement\{Key:b,Operator:In,Values:\[x y\],\},\},\}\) were found/,
  )
})
