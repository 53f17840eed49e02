/** Everything of a virtual cluster is removed with it, even if its hub no longer reports anything of it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AnyObject } from '@skerry/api'
import { resources, type TypedResource } from '@skerry/client'
import { clusterResource, virtualClusterResource } from '@skerry/fleet-kinds'
import { workResource } from '@skerry/karmada-kinds'
import { allowVirtualClusters } from '@skerry/membership'
import { untilObject } from '@skerry/testing'
import { untilCluster } from '../../testing/scenes/test-fleet.ts'
import {
  startVirtualScene,
  till,
  virtualCluster,
  workFor,
} from '../../testing/scenes/virtual-scene.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)
const priorityClasses: TypedResource<AnyObject> = {
  group: 'scheduling.k8s.io',
  version: 'v1',
  resource: 'priorityclasses',
  isNamespaced: false,
}
const rbac = 'rbac.authorization.k8s.io'
const bindings: TypedResource<AnyObject> = {
  group: rbac,
  version: 'v1',
  resource: 'clusterrolebindings',
  isNamespaced: false,
}

const shared: AnyObject = {
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  metadata: { name: 'till' },
  value: 10,
}
const own: AnyObject = {
  apiVersion: `${rbac}/v1`,
  kind: 'ClusterRoleBinding',
  metadata: { name: 'till' },
  roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'view' },
  subjects: [{ kind: 'ServiceAccount', namespace: 'shop', name: 'till' }],
}

test("a virtual cluster's shared objects are left and removed even when its hub no longer allows it", async () => {
  await using scene = await startVirtualScene({}, soon())
  const { hub, edge, fleet } = scene
  const names = ['east', 'west']
  for (const name of names) {
    const spec = { nodeNames: [name], isolation: { allowsClusterRights: true } }
    await edge.resource(virtualClusterResource).create(virtualCluster(name, spec), soon())
    await untilCluster(fleet, `bank-${name}`, ({ Ready }) => Ready === 'True')
    await hub.resource(workResource).create(workFor(`bank-${name}`, shared, own, till), soon())
  }
  const isShared = (count: number) => (object: AnyObject | undefined) =>
    Object.keys(object?.metadata.annotations ?? {}).filter((key) => key.startsWith('shared-by.'))
      .length === count
  const priorityClass = { resource: priorityClasses, key: { name: 'till' } }
  await untilObject(edge, priorityClass, isShared(2), soon())
  for (const name of names) {
    const binding = { resource: bindings, key: { name: `till-bank-${name}` } }
    await untilObject(edge, binding, Boolean, soon())
  }
  await allowVirtualClusters(hub, { cluster: 'bank', isAllowed: false }, soon())
  const leave = async (name: string): Promise<void> => {
    await edge.resource(virtualClusterResource).delete({ name }, soon())
    const left = { resource: virtualClusterResource, key: { name } }
    await untilObject(edge, left, (object) => object === undefined, soon())
  }
  await leave('west')
  const kept = await edge.resource(priorityClasses).get({ name: 'till' }, soon())
  assert.ok(isShared(1)(kept), 'the other one has it still')
  await leave('east')
  const list = async (resource: TypedResource<AnyObject>): Promise<unknown> =>
    (await edge.resource(resource).list({}, soon())).items
      .map(({ metadata }) => metadata.name ?? '')
      .filter((name) => /bank-|^till$/.test(name))
  assert.deepEqual(await list(priorityClasses), [])
  assert.deepEqual(await list(bindings), [])
  assert.deepEqual(await list(resources.namespaces), [])
  // The person who revoked the right removes what the hub kept.
  await hub.resource(clusterResource).get({ name: 'bank-west' }, soon())
})
