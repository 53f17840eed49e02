/** Controllers of a hub start again in the middle of their work. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ConfigMap } from '@skerry/api'
import { anyObjects, resources } from '@skerry/client'
import {
  type PropagationPolicy,
  propagationPolicyResource,
  type ResourceBinding,
  resourceBindingResource,
  workNameOf,
  workResource,
} from '@skerry/karmada-kinds'
import { clusterResource, executionNamespace } from '@skerry/fleet-kinds'
import { customizationResource } from '../../interpreter/custom/customization.ts'
import { deployment, startFleetScene, type FleetScene } from './testing/fleet-scene.ts'

type PropagationSpec = PropagationPolicy['spec']

const soon = (): AbortSignal => AbortSignal.timeout(90_000)
const web = { namespace: 'shop', name: 'web' }
const webBinding = { namespace: 'shop', name: 'web-deployment' }
const webWork = workNameOf({ kind: 'Deployment', ...web })
/** The resource with objects that a test writes in parts. */
const anyDeployments = anyObjects(resources.deployments)

async function propagate(
  { hub }: FleetScene,
  names: readonly string[],
  more: Partial<PropagationSpec> = {},
): Promise<void> {
  for (const name of names) {
    const metadata = { namespace: 'shop', name, labels: { app: 'web' } }
    await hub.resource(anyDeployments).create({ ...deployment(), metadata }, soon())
  }
  const resourceSelectors = [{ apiVersion: 'apps/v1', kind: 'Deployment' }]
  await hub.resource(propagationPolicyResource).create(
    {
      apiVersion: 'policy.karmada.io/v1alpha1',
      kind: 'PropagationPolicy',
      metadata: web,
      spec: { resourceSelectors, ...more },
    },
    soon(),
  )
}

function untilBinding(scene: FleetScene, isWanted: (binding: ResourceBinding) => boolean) {
  const where = { api: scene.hub, resource: resourceBindingResource, key: webBinding }
  return scene.until(where, (binding) => binding !== undefined && isWanted(binding))
}

function isTold({ status }: ResourceBinding): boolean {
  const items = status?.aggregatedStatus ?? []
  return items.length === 2 && items.every(({ health }) => health === 'Unhealthy')
}

/** Lists each Work with its uid and number of changes, and each binding with its clusters. */
async function written({ hub }: FleetScene): Promise<string[]> {
  const works = await hub.resource(workResource).list({}, soon())
  const bindings = await hub.resource(resourceBindingResource).list({}, soon())
  return [
    ...works.items.map(({ metadata }) => ({ metadata, text: String(metadata.generation) })),
    ...bindings.items.map(({ metadata, spec }) => ({
      metadata,
      text: JSON.stringify([spec.clusters, spec.gracefulEvictionTasks]),
    })),
  ]
    .filter(({ metadata }) => !metadata.name?.startsWith('last'))
    .map(({ metadata, text }) => `${metadata.name} ${metadata.uid} ${text}`)
    .toSorted()
}

test('a hub that starts again makes nothing twice, and changes and takes away nothing', async () => {
  await using scene = await startFleetScene(['reef', 'shore'], soon())
  await propagate(scene, ['web', 'other'])
  await untilBinding(scene, isTold)
  const where = { resource: resources.deployments, key: { namespace: 'shop', name: 'other' } }
  for (const name of ['reef', 'shore']) {
    await scene.until({ api: scene.edge(name), ...where }, (object) => object !== undefined)
  }
  const before = await written(scene)
  assert.equal(before.length, 2 * 3 + 2)
  await scene.restart()
  // A later object has gone all the way, so all earlier work is done.
  const metadata = { namespace: 'shop', name: 'last', labels: { app: 'web' } }
  await scene.hub.resource(anyDeployments).create({ ...deployment(), metadata }, soon())
  const last = { resource: resources.deployments, key: { namespace: 'shop', name: 'last' } }
  for (const name of ['reef', 'shore']) {
    await scene.until({ api: scene.edge(name), ...last }, (object) => object !== undefined)
  }
  assert.deepEqual(await written(scene), before)
})

test('changes that were made while the hub’s controllers were away are caught up with', async () => {
  await using scene = await startFleetScene(['reef', 'shore'], soon())
  await propagate(scene, ['web'])
  await untilBinding(scene, isTold)
  const { hub } = scene
  await scene.restart(async () => {
    const placement = { clusterAffinity: { clusterNames: ['reef'] } }
    const policies = hub.resource(propagationPolicyResource)
    await policies.patch({ ...web, type: 'merge', patch: { spec: { placement } } }, soon())
    const patch = { spec: { replicas: 5 } }
    await hub.resource(resources.deployments).patch({ ...web, type: 'merge', patch }, soon())
  })
  const where = { resource: resources.deployments, key: web }
  await scene.until({ api: scene.edge('reef'), ...where }, (object) => object?.spec?.replicas === 5)
  await scene.until({ api: scene.edge('shore'), ...where }, (object) => object === undefined)
})

test('an eviction goes on after a start: the copy stays until its successor is well, then it goes', async () => {
  await using scene = await startFleetScene(['reef', 'shore'], soon())
  await propagate(scene, ['web'])
  const { hub } = scene
  const placed = await untilBinding(scene, isTold)
  const taints = [{ key: 'storm', effect: 'NoSchedule' }]
  await hub
    .resource(clusterResource)
    .patch({ name: 'reef', type: 'merge', patch: { spec: { taints } } }, soon())
  const task = {
    fromCluster: 'reef',
    purgeMode: 'Gracefully',
    reason: 'Test',
    producer: 'test',
    gracePeriodSeconds: 86_400,
  }
  const clusters = placed?.spec.clusters?.filter(({ name }) => name === 'shore')
  const patch = { spec: { clusters, gracefulEvictionTasks: [task] } }
  await hub.resource(resourceBindingResource).patch({ ...webBinding, type: 'merge', patch }, soon())
  const begun = await untilBinding(
    scene,
    ({ spec }) => spec.gracefulEvictionTasks?.[0]?.creationTimestamp !== undefined,
  )
  await scene.restart()
  const key = { namespace: executionNamespace('reef'), name: webWork }
  const kept = await hub.resource(workResource).get(key, soon())
  assert.equal(kept.metadata.deletionTimestamp, undefined)
  const still = await hub.resource(resourceBindingResource).get(webBinding, soon())
  assert.deepEqual(still.spec.gracefulEvictionTasks, begun?.spec.gracefulEvictionTasks)
  const counts = { replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 }
  const status = { ...counts, observedGeneration: 1 }
  const deployments = scene.edge('shore').resource(resources.deployments)
  await deployments.patchStatus({ ...web, type: 'merge', patch: { status } }, soon())
  const where = { api: scene.edge('reef'), resource: resources.deployments, key: web }
  await scene.until(where, (object) => object === undefined)
  const done = await untilBinding(scene, ({ spec }) => spec.gracefulEvictionTasks === undefined)
  assert.deepEqual(done?.spec.clusters, clusters)
})

test("an object's dependencies by label stay where they are while a hub starts again", async () => {
  await using scene = await startFleetScene(['reef'], soon())
  const { hub } = scene
  const luaScript = `
    function GetDependencies(object)
      local labelSelector = { matchLabels = { app = "web" } }
      local each = { apiVersion = "v1", kind = "ConfigMap", namespace = "shop" }
      each.labelSelector = labelSelector
      return { each }
    end`
  await hub.resource(customizationResource).create(
    {
      apiVersion: 'config.karmada.io/v1alpha1',
      kind: 'ResourceInterpreterCustomization',
      metadata: { name: 'web' },
      spec: {
        target: { apiVersion: 'apps/v1', kind: 'Deployment' },
        customizations: { dependencyInterpretation: { luaScript } },
      },
    },
    soon(),
  )
  const configMap = (name: string): ConfigMap => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'shop', name, labels: { app: 'web' } },
  })
  const untilThere = (name: string) => {
    const where = { api: scene.edge('reef'), resource: resources.configMaps }
    return scene.until({ ...where, key: { namespace: 'shop', name } }, (each) => each !== undefined)
  }
  await hub.resource(resources.configMaps).create(configMap('first'), soon())
  await propagate(scene, ['web'], { propagateDeps: true })
  await untilThere('first')
  const key = { namespace: 'shop', name: 'first-configmap' }
  const before = await hub.resource(resourceBindingResource).get(key, soon())
  await scene.restart()
  await hub.resource(resources.configMaps).create(configMap('second'), soon())
  await untilThere('second')
  const after = await hub.resource(resourceBindingResource).get(key, soon())
  assert.equal(after.metadata.generation, before.metadata.generation)
})
