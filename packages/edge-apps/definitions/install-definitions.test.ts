import assert from 'node:assert/strict'
import { test } from 'node:test'
import { equalJson } from '@skerry/api'
import { silentLogger, systemClock, systemRandom } from '@skerry/base'
import { createCluster, resources } from '@skerry/client'
import { startTestApiServer, until } from '@skerry/testing'
import { superedgeKinds } from '../superedge/definitions-table.ts'
import { deploymentGrids, serviceGrids } from '../superedge/grid.ts'
import { installDefinitions, removeEdgeApps } from './install-definitions.ts'

const { signal } = new AbortController()
const deps = { clock: systemClock, random: systemRandom, log: silentLogger }

test('definitions go with the option, but not those of kinds that have an object, nor those of others', async () => {
  await using api = await startTestApiServer()
  const cluster = createCluster(api.transport, { ...deps, userAgent: 'skerry-test' })
  const definitions = cluster.resource(resources.customResourceDefinitions)
  const named = async (): Promise<string[]> =>
    (await definitions.list({}, signal)).items.map(({ metadata }) => metadata.name ?? '')
  // SuperEdge's own definition of the kind: without a status.
  await definitions.create(
    {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'servicegrids.superedge.io' },
      spec: {
        group: serviceGrids.group,
        scope: 'Namespaced',
        names: { kind: serviceGrids.kind, plural: serviceGrids.resource },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object' } },
          },
        ],
      },
    },
    signal,
  )
  await installDefinitions(superedgeKinds, { ...deps, cluster }, signal)
  assert.equal((await named()).length, 5)
  const taken = await definitions.get({ name: 'servicegrids.superedge.io' }, signal)
  assert.deepEqual(taken.spec.versions[0]?.subresources, { status: {} })
  const roles = async (): Promise<string[]> =>
    (await cluster.resource(resources.clusterRoles).list({}, signal)).items.map(
      ({ metadata }) => metadata.name ?? '',
    )
  const made = ['skerry-edge-apps-edit', 'skerry-edge-apps-nodes-edit', 'skerry-edge-apps-view']
  assert.deepEqual((await roles()).toSorted(), made)
  const grid = {
    apiVersion: 'superedge.io/v1',
    kind: 'DeploymentGrid',
    metadata: { name: 'web', namespace: 'default' },
    spec: { gridUniqKey: 'zone' },
  }
  await cluster.resource(deploymentGrids).create(grid, signal)
  await removeEdgeApps({ cluster, log: silentLogger }, signal)
  const kept = ['deploymentgrids.superedge.io', 'servicegrids.superedge.io']
  await until(async () => equalJson(await named(), kept))
  assert.deepEqual((await roles()).toSorted(), made)
  await cluster.resource(deploymentGrids).delete({ name: 'web', namespace: 'default' }, signal)
  await removeEdgeApps({ cluster, log: silentLogger }, signal)
  await until(async () => equalJson(await named(), kept.slice(1)))
  assert.deepEqual(await roles(), [])
})
