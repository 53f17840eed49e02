/** Objects at an unreachable cluster in push mode move, and are cleaned up when it answers again. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources, type ClusterClient } from '@skerry/client'
import { clusterResource, executionNamespace } from '@skerry/fleet-kinds'
import {
  clusterTaintPolicyResource,
  propagationPolicyResource,
  resourceBindingResource,
  workResource,
} from '@skerry/karmada-kinds'
import { startTestProxy, type TestProxyOptions, untilObject } from '@skerry/testing'
import { startTestEdge, startTestHub } from '../../testing/scenes/test-fleet.ts'
import { clientOf, joinCluster, readyOf } from '../../testing/scenes/test-push.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)
const made = { namespace: 'default', name: 'till' }
const binding = { ...made, name: 'till-configmap' }
const notReady = 'cluster.karmada.io/not-ready'

/** Places at one of the two, and at the other while that one is tainted. */
async function placeAtOne(admin: ClusterClient): Promise<void> {
  const conditions = (statusValues: ('True' | 'False')[]) => [
    { conditionType: 'Ready', operator: 'In' as const, statusValues },
  ]
  await admin.resource(clusterTaintPolicyResource).create(
    {
      apiVersion: 'policy.karmada.io/v1alpha1',
      kind: 'ClusterTaintPolicy',
      metadata: { name: 'away' },
      spec: {
        addOnConditions: conditions(['False']),
        removeOnConditions: conditions(['True']),
        taints: [{ key: 'away', effect: 'NoExecute' }],
      },
    },
    soon(),
  )
  const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: made, data: { till: '7' } }
  await admin.resource(resources.configMaps).create(manifest, soon())
  await admin.resource(propagationPolicyResource).create(
    {
      apiVersion: 'policy.karmada.io/v1alpha1',
      kind: 'PropagationPolicy',
      metadata: made,
      spec: {
        resourceSelectors: [{ apiVersion: 'v1', kind: 'ConfigMap', name: made.name }],
        placement: {
          spreadConstraints: [{ spreadByField: 'cluster', minGroups: 1, maxGroups: 1 }],
        },
      },
    },
    soon(),
  )
}

/** Waits until its only valid copy is applied there. */
async function untilAt(admin: ClusterClient, name: string): Promise<void> {
  await untilObject(
    admin,
    { resource: resourceBindingResource, key: binding },
    (each) => {
      const { clusters = [], gracefulEvictionTasks = [] } = each?.spec ?? {}
      const applied = (each?.status?.aggregatedStatus ?? []).some(
        (status) => status.clusterName === name && status.applied === true,
      )
      return (
        applied &&
        gracefulEvictionTasks.length === 0 &&
        clusters.map((to) => to.name).join() === name
      )
    },
    soon(),
  )
}

test('objects at a pushed cluster that does not answer move to another, and are removed there when it answers again', async () => {
  await using shop = await startTestEdge()
  await using mall = await startTestEdge()
  const way: TestProxyOptions = {}
  await using proxy = await startTestProxy(way)
  await using fleet = await startTestHub({ push: true, failover: true, pushPeriodMs: 250 })
  const { admin } = fleet
  const atShop = clientOf(shop, fleet)
  const atMall = clientOf(mall, fleet)
  await joinCluster(fleet, shop, atShop, { proxyURL: proxy.url })
  await untilObject(
    admin,
    { resource: clusterResource, key: { name: 'shop' } },
    (each) => readyOf(each)?.status === 'True',
    soon(),
  )
  await placeAtOne(admin)
  await untilAt(admin, 'shop')
  await joinCluster(fleet, mall, atMall, { name: 'mall' })
  await untilObject(
    admin,
    { resource: clusterResource, key: { name: 'mall' } },
    (each) => readyOf(each)?.status === 'True',
    soon(),
  )

  way.refusal = { status: 504, phrase: 'Gateway Timeout' }
  proxy.cut()
  await untilObject(
    admin,
    { resource: clusterResource, key: { name: 'shop' } },
    (each) => {
      const taints = (each?.spec.taints ?? []).map(({ key }) => key)
      const { status, reason } = readyOf(each) ?? {}
      const isTold = status === 'False' && reason === 'ClusterNotReachable'
      return isTold && taints.includes(notReady) && taints.includes('away')
    },
    soon(),
  )
  await untilAt(admin, 'mall')
  const copy = await atMall.resource(resources.configMaps).get(made, soon())
  assert.equal(copy.data?.['till'], '7')
  // Nothing can delete the old one yet.
  const namespace = executionNamespace('shop')
  const [work] = (await admin.resource(workResource).list({ namespace }, soon())).items
  const ofShop = { namespace, name: work?.metadata.name ?? '' }
  await untilObject(
    admin,
    { resource: workResource, key: ofShop },
    (each) => each?.metadata.deletionTimestamp !== undefined,
    soon(),
  )
  assert.equal((await atShop.resource(resources.configMaps).get(made, soon())).data?.['till'], '7')

  delete way.refusal
  await untilObject(
    atShop,
    { resource: resources.configMaps, key: made },
    (each) => each === undefined,
    soon(),
  )
  await untilObject(
    admin,
    { resource: clusterResource, key: { name: 'shop' } },
    (each) => {
      return readyOf(each)?.status === 'True' && (each?.spec.taints ?? []).length === 0
    },
    soon(),
  )
  await untilObject(
    admin,
    { resource: workResource, key: ofShop },
    (each) => each === undefined,
    soon(),
  )
  await untilAt(admin, 'mall')
})
