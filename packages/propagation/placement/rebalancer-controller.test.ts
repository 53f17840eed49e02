import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  resourceBindingResource,
  workloadRebalancerResource,
  type RebalancedWorkload,
  type WorkloadRebalancer,
} from '@skerry/karmada-kinds'
import { until, untilObject } from '@skerry/testing'
import {
  addCluster,
  bindingOf,
  isPlaced,
  namespace,
  signal,
  startScene,
  targetsOf,
  untilBinding,
  web,
  type Scene,
} from './testing/placement-scene.ts'

const weighted = {
  replicaSchedulingType: 'Divided',
  replicaDivisionPreference: 'Weighted',
  weightPreference: { dynamicWeight: 'AvailableReplicas' },
} as const
const kind = { apiVersion: 'apps/v1', kind: 'Deployment' }

async function rebalance(
  { hub }: Scene,
  workloads: RebalancedWorkload[],
  ttlSecondsAfterFinished?: number,
): Promise<void> {
  const ttl = ttlSecondsAfterFinished === undefined ? {} : { ttlSecondsAfterFinished }
  await hub.resource(workloadRebalancerResource).create(
    {
      apiVersion: 'apps.karmada.io/v1alpha1',
      kind: 'WorkloadRebalancer',
      metadata: { name: 'now' },
      spec: { workloads, ...ttl },
    },
    signal,
  )
}

async function untilFinished({ hub }: Scene): Promise<WorkloadRebalancer> {
  return until(async () => {
    const found = await hub.resource(workloadRebalancerResource).get({ name: 'now' }, signal)
    return found.status?.finishTime !== undefined && found
  }, signal)
}

test('replicas are divided again on request, and missing objects are reported', async () => {
  await using scene = await startScene()
  await addCluster(scene, 'reef')
  const bindings = scene.hub.resource(resourceBindingResource)
  await bindings.create(bindingOf({ placement: { replicaScheduling: weighted } }), signal)
  assert.equal(targetsOf(await untilBinding(scene, isPlaced)), 'reef:4')
  await addCluster(scene, 'shore')
  // Times are whole seconds, and a request must be later than the last placement.
  const status = { lastScheduledTime: '2026-01-01T00:00:00Z' }
  await bindings.patchStatus({ ...web, type: 'merge', patch: { status } }, signal)
  const other = { ...kind, namespace, name: 'other' }
  await rebalance(scene, [other, { ...kind, namespace, name: 'web' }])
  assert.equal(
    targetsOf(await untilBinding(scene, (each) => targetsOf(each) !== 'reef:4')),
    'reef:2 shore:2',
  )
  const { status: told } = await untilFinished(scene)
  assert.deepEqual(told?.observedWorkloads, [
    { workload: other, result: 'Failed', reason: 'ReferencedBindingNotFound' },
    { workload: { ...kind, namespace, name: 'web' }, result: 'Successful' },
  ])
})

test('a rebalancing that is done is deleted after its time', async () => {
  await using scene = await startScene()
  await rebalance(scene, [{ ...kind, namespace, name: 'web' }], 0)
  const resource = workloadRebalancerResource
  const place = { resource, key: { name: 'now' } }
  await untilObject(scene.hub, place, (found) => found === undefined, signal)
})
