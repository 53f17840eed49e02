import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isStatusError } from '@skerry/api'
import { systemClock } from '@skerry/base'
import {
  resourceBindingResource,
  workloadRebalancerResource,
  type RebalancedWorkload,
  type WorkloadRebalancer,
} from '@skerry/karmada-kinds'
import {
  addCluster,
  bindingOf,
  isPlaced,
  namespace,
  signal,
  startScene,
  targetsOf,
  until,
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
  for (;;) {
    const found = await hub.resource(workloadRebalancerResource).get({ name: 'now' }, signal)
    if (found.status?.finishTime !== undefined) return found
    await systemClock.sleep(20, signal)
  }
}

test('replicas are divided anew when that is asked for, and what is not there is told', async () => {
  await using scene = await startScene()
  await addCluster(scene, 'reef')
  const bindings = scene.hub.resource(resourceBindingResource)
  await bindings.create(bindingOf({ placement: { replicaScheduling: weighted } }), signal)
  assert.equal(targetsOf(await until(scene, isPlaced)), 'reef:4')
  await addCluster(scene, 'shore')
  // Times are whole seconds, and a request must be later than the last placement.
  const status = { lastScheduledTime: '2026-01-01T00:00:00Z' }
  await bindings.patchStatus({ ...web, type: 'merge', patch: { status } }, signal)
  const other = { ...kind, namespace, name: 'other' }
  await rebalance(scene, [other, { ...kind, namespace, name: 'web' }])
  assert.equal(
    targetsOf(await until(scene, (each) => targetsOf(each) !== 'reef:4')),
    'reef:2 shore:2',
  )
  const { status: told } = await untilFinished(scene)
  assert.deepEqual(told?.observedWorkloads, [
    { workload: other, result: 'Failed', reason: 'ReferencedBindingNotFound' },
    { workload: { ...kind, namespace, name: 'web' }, result: 'Successful' },
  ])
})

test('a wish that is met goes after its time', async () => {
  await using scene = await startScene()
  await rebalance(scene, [{ ...kind, namespace, name: 'web' }], 0)
  for (;;) {
    try {
      await scene.hub.resource(workloadRebalancerResource).get({ name: 'now' }, signal)
    } catch (error) {
      if (isStatusError(error, 'NotFound')) return
      throw error
    }
    await systemClock.sleep(20, signal)
  }
})
