import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isStatusError } from '@skerry/api'
import { createCluster, resources, type ClusterClient } from '@skerry/client'
import { leaveFleet } from '@skerry/cluster-agent'
import { clusterResource, executionNamespace } from '@skerry/fleet-kinds'
import { workResource } from '@skerry/karmada-kinds'
import { startTestApiServer } from '@skerry/testing'
import { registerCluster, startTestHub, type TestHub } from '../../testing/scenes/test-fleet.ts'

const soon = (): AbortSignal => AbortSignal.timeout(60_000)
const namespace = executionNamespace('shop')
const managed = { 'karmada.io/managed': 'true' }

function configMap(name: string, labels: Record<string, string>) {
  const metadata = { namespace: 'default', name, labels }
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata }
}

/** Creates a Work, its object, and one that is somebody else's. */
async function prepare({ admin }: TestHub, edge: ClusterClient): Promise<void> {
  const space = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }
  await admin
    .resource(resources.namespaces)
    .create(space, soon())
    .catch((error: unknown) => {
      // The hub makes the namespace of each cluster, sooner or later than this.
      if (!isStatusError(error, 'AlreadyExists')) throw error
    })
  const work = {
    apiVersion: 'work.karmada.io/v1alpha1',
    kind: 'Work',
    metadata: { namespace, name: 'lamps' },
    spec: { workload: { manifests: ['lamp', 'desk'].map((name) => configMap(name, {})) } },
  }
  await admin.resource(workResource).create(work, soon())
  await edge.resource(resources.configMaps).create(configMap('lamp', managed), soon())
  await edge.resource(resources.configMaps).create(configMap('desk', {}), soon())
}

test('a cluster that leaves loses the objects that Works made, or keeps them as its own', async () => {
  for (const keepsObjects of [false, true]) {
    await using fleet = await startTestHub()
    await using server = await startTestApiServer()
    const edge = createCluster(server.transport, { ...fleet.context, userAgent: 'test' })
    await registerCluster(fleet, 'shop')
    await prepare(fleet, edge)
    const deps = { ...fleet.context, hub: fleet.admin, local: edge }
    await leaveFleet({ clusterName: 'shop', keepsObjects }, deps, soon())
    const { items } = await fleet.admin.resource(clusterResource).list({}, soon())
    assert.deepEqual(items, [])
    const left = await edge.resource(resources.configMaps).list({ namespace: 'default' }, soon())
    const own = left.items.map(({ metadata }) => [metadata.name, metadata.labels ?? {}])
    const desk = ['desk', {}]
    assert.deepEqual(
      own.filter(([name]) => name === 'desk' || name === 'lamp'),
      keepsObjects ? [desk, ['lamp', {}]] : [desk],
    )
    await leaveFleet({ clusterName: 'shop', keepsObjects }, deps, soon())
  }
})
