/** Single fields of policies take effect from the policy to the cluster. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ConfigMap } from '@skerry/api'
import { anyObjects, resources } from '@skerry/client'
import {
  clusterOverridePolicyResource,
  clusterTaintPolicyResource,
  overridePolicyResource,
  type PropagationPolicy,
  propagationPolicyResource,
  resourceBindingResource,
} from '@skerry/karmada-kinds'
import { clusterResource } from '@skerry/fleet-kinds'
import { deployment, startFleetScene, type FleetScene } from './testing/fleet-scene.ts'

type PropagationSpec = PropagationPolicy['spec']

const soon = (): AbortSignal => AbortSignal.timeout(90_000)
const web = { namespace: 'shop', name: 'web' }
const webBinding = { namespace: 'shop', name: 'web-deployment' }
const settings = { namespace: 'shop', name: 'settings' }
const ofSettings = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'settings' }]
const ofWeb = [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }]
/** The resource with objects that a test writes in parts. */
const anyDeployments = anyObjects(resources.deployments)

function on(...clusterNames: string[]) {
  return { placement: { clusterAffinity: { clusterNames } } }
}

async function select({ hub }: FleetScene, name: string, spec: PropagationSpec): Promise<void> {
  const apiVersion = 'policy.karmada.io/v1alpha1'
  const metadata = { namespace: 'shop', name }
  await hub
    .resource(propagationPolicyResource)
    .create({ apiVersion, kind: 'PropagationPolicy', metadata, spec }, soon())
}

function configMap(colour: string): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: settings, data: { colour } }
}

function untilSettings(scene: FleetScene, cluster: string, colour: string | undefined) {
  const where = { api: scene.edge(cluster), resource: resources.configMaps, key: settings }
  return scene.until(where, (object) => object?.data?.['colour'] === colour)
}

test('a changed lazy policy applies to an object when somebody next changes the object', async () => {
  await using scene = await startFleetScene(['reef', 'shore'], soon())
  const { hub } = scene
  const lazy = { resourceSelectors: ofSettings, activationPreference: 'Lazy' } as const
  await select(scene, 'lazy', { ...lazy, ...on('reef') })
  await hub.resource(resources.configMaps).create(configMap('green'), soon())
  await untilSettings(scene, 'reef', 'green')
  const policies = hub.resource(propagationPolicyResource)
  const key = { namespace: 'shop', name: 'lazy' }
  await policies.patch({ ...key, type: 'merge', patch: { spec: on('shore') } }, soon())
  // A later object has gone all the way, so the hub has seen the change.
  await select(scene, 'web', { resourceSelectors: ofWeb, ...on('shore') })
  await hub.resource(anyDeployments).create(deployment(), soon())
  const there = { api: scene.edge('shore'), resource: resources.deployments, key: web }
  await scene.until(there, (object) => object !== undefined)
  const binding = { namespace: 'shop', name: 'settings-configmap' }
  const { spec } = await hub.resource(resourceBindingResource).get(binding, soon())
  assert.deepEqual(spec.placement, on('reef').placement)
  const patch = { data: { colour: 'red' } }
  await hub.resource(resources.configMaps).patch({ ...settings, type: 'merge', patch }, soon())
  await untilSettings(scene, 'shore', 'red')
  await untilSettings(scene, 'reef', undefined)
})

test('an object of a lazy policy that was scaled while no hub led is scaled when one does', async () => {
  await using scene = await startFleetScene(['reef'], soon())
  const { hub } = scene
  const lazy = { resourceSelectors: ofWeb, activationPreference: 'Lazy' } as const
  await select(scene, 'lazy', { ...lazy, ...on('reef') })
  await hub.resource(anyDeployments).create(deployment(), soon())
  const there = { api: scene.edge('reef'), resource: resources.deployments, key: web }
  await scene.until(there, (object) => object?.spec?.replicas === 2)
  await scene.restart(async () => {
    const patch = { spec: { replicas: 5 } }
    await hub.resource(anyDeployments).patch({ ...web, type: 'merge', patch }, soon())
  })
  await scene.until(there, (object) => object?.spec?.replicas === 5)
})

test('an object is placed with the priority of the class that its policy names', async () => {
  await using scene = await startFleetScene(['reef'], soon())
  const { hub } = scene
  await hub.resource(resources.priorityClasses).create(
    {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name: 'urgent' },
      value: 100,
    },
    soon(),
  )
  const schedulePriority = {
    priorityClassSource: 'KubePriorityClass',
    priorityClassName: 'urgent',
  }
  await select(scene, 'web', { resourceSelectors: ofWeb, schedulePriority })
  await hub.resource(anyDeployments).create(deployment(), soon())
  const where = { api: hub, resource: resourceBindingResource, key: webBinding }
  const binding = await scene.until(where, (each) => each !== undefined)
  assert.deepEqual(binding?.spec.schedulePriority, { priority: 100 })
})

test('copies that are to be preserved stay when their object is deleted', async () => {
  await using scene = await startFleetScene(['reef'], soon())
  const { hub } = scene
  const preserved = { resourceSelectors: ofSettings, preserveResourcesOnDeletion: true }
  await select(scene, 'settings', preserved)
  await hub.resource(resources.configMaps).create(configMap('green'), soon())
  await untilSettings(scene, 'reef', 'green')
  await hub.resource(resources.configMaps).delete(settings, soon())
  const where = { api: scene.edge('reef'), resource: resources.configMaps, key: settings }
  const freed = await scene.until(
    where,
    (object) => object?.metadata.labels?.['karmada.io/managed'] === undefined,
  )
  assert.equal(freed?.data?.['colour'], 'green')
})

test('existing objects of a cluster are taken over where the policy says so', async () => {
  await using scene = await startFleetScene(['reef', 'shore'], soon())
  for (const name of ['reef', 'shore']) {
    await scene.edge(name).resource(resources.configMaps).create(configMap('own'), soon())
  }
  await select(scene, 'settings', {
    resourceSelectors: ofSettings,
    conflictResolution: 'Overwrite',
    ...on('reef'),
  })
  await scene.hub.resource(resources.configMaps).create(configMap('green'), soon())
  await untilSettings(scene, 'reef', 'green')
  const own = await scene.edge('shore').resource(resources.configMaps).get(settings, soon())
  assert.equal(own.data?.['colour'], 'own')
})

test('a policy of taints applies even where nothing is propagated yet', async () => {
  await using scene = await startFleetScene(['reef'], soon())
  const match = { conditionType: 'Ready', operator: 'In', statusValues: ['True'] } as const
  await scene.hub.resource(clusterTaintPolicyResource).create(
    {
      apiVersion: 'policy.karmada.io/v1alpha1',
      kind: 'ClusterTaintPolicy',
      metadata: { name: 'open' },
      spec: {
        addOnConditions: [{ ...match, statusValues: [...match.statusValues] }],
        taints: [{ key: 'open', effect: 'NoSchedule' }],
      },
    },
    soon(),
  )
  const where = { api: scene.hub, resource: clusterResource, key: { name: 'reef' } }
  await scene.until(where, (cluster) => cluster?.spec.taints?.[0]?.key === 'open')
})

test('an override that selects a label of another override applies as soon as that is there', async () => {
  await using scene = await startFleetScene(['reef'], soon())
  const { hub } = scene
  const apiVersion = 'policy.karmada.io/v1alpha1'
  const ofDeployments = { apiVersion: 'apps/v1', kind: 'Deployment' }
  const tier = { operator: 'add' as const, value: { tier: 'edge' } }
  await hub.resource(clusterOverridePolicyResource).create(
    {
      apiVersion,
      kind: 'ClusterOverridePolicy',
      metadata: { name: 'tiers' },
      spec: {
        resourceSelectors: [ofDeployments],
        overrideRules: [{ overriders: { labelsOverrider: [tier] } }],
      },
    },
    soon(),
  )
  await select(scene, 'web', { resourceSelectors: [ofDeployments] })
  await hub.resource(anyDeployments).create(deployment(), soon())
  const where = { api: scene.edge('reef'), resource: resources.deployments, key: web }
  await scene.until(where, (object) => object?.metadata.labels?.['tier'] === 'edge')
  const labelSelector = { matchLabels: { tier: 'edge' } }
  const mark = { operator: 'add' as const, value: { mark: 'seen' } }
  await hub.resource(overridePolicyResource).create(
    {
      apiVersion,
      kind: 'OverridePolicy',
      metadata: web,
      spec: {
        resourceSelectors: [{ ...ofDeployments, labelSelector }],
        overrideRules: [{ overriders: { labelsOverrider: [mark] } }],
      },
    },
    soon(),
  )
  await scene.until(where, (object) => object?.metadata.labels?.['mark'] === 'seen')
})
