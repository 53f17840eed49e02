import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AnyObject, ClusterRole, ConfigMap, Deployment } from '@skerry/api'
import { anyObjects, resources } from '@skerry/client'
import {
  clusterOverridePolicyResource,
  clusterPropagationPolicyResource,
  overridePolicyResource,
  type OverrideRule,
  type PropagationPolicy,
  propagationPolicyResource,
  resourceBindingResource,
  workNameOf,
  workResource,
} from '@skerry/karmada-kinds'
import { clusterResource, executionNamespace } from '@skerry/fleet-kinds'
import { deployment, startFleetScene, type FleetScene } from './testing/fleet-scene.ts'

type PropagationSpec = PropagationPolicy['spec']

const soon = (): AbortSignal => AbortSignal.timeout(120_000)
const web = { namespace: 'shop', name: 'web' }
const settings = { namespace: 'shop', name: 'settings' }
const webBinding = { namespace: 'shop', name: 'web-deployment' }
const webWork = workNameOf({ kind: 'Deployment', ...web })
/** The resource with objects that a test writes in parts. */
const anyDeployments = anyObjects(resources.deployments)

function policy(spec: Partial<PropagationSpec> = {}): PropagationPolicy {
  return {
    apiVersion: 'policy.karmada.io/v1alpha1',
    kind: 'PropagationPolicy',
    metadata: { namespace: 'shop', name: 'web' },
    spec: {
      resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }],
      placement: { clusterAffinity: { clusterNames: ['reef', 'shore'] } },
      ...spec,
    },
  }
}

function configMap(colour: string): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: settings, data: { colour } }
}

async function propagate({ hub }: FleetScene, template: AnyObject, spec = policy()): Promise<void> {
  await hub.resource(anyDeployments).create(template, soon())
  await hub.resource(propagationPolicyResource).create(spec, soon())
}

function untilWeb(
  scene: FleetScene,
  cluster: string,
  isWanted: (object: Deployment | undefined) => boolean,
): Promise<Deployment | undefined> {
  const where = { api: scene.edge(cluster), resource: resources.deployments, key: web }
  return scene.until(where, isWanted)
}

/** Reports as the controllers of a cluster would: the pods of all replicas run. */
async function reportReady(scene: FleetScene, cluster: string, replicas: number): Promise<void> {
  const counts = { replicas, updatedReplicas: replicas, readyReplicas: replicas }
  const status = { ...counts, availableReplicas: replicas, observedGeneration: 1 }
  const deployments = scene.edge(cluster).resource(resources.deployments)
  await deployments.patchStatus({ ...web, type: 'merge', patch: { status } }, soon())
}

test('the objects that a policy selects are made in its clusters, differ by override, and follow the hub', async () => {
  await using scene = await startFleetScene(['reef', 'shore'], soon())
  const rule: OverrideRule = {
    targetCluster: { clusterNames: ['shore'] },
    overriders: {
      imageOverrider: [{ component: 'Registry', operator: 'replace', value: 'shore.example.com' }],
    },
  }
  // Nothing is sent before its required override exists.
  await propagate(scene, deployment(), policy({ dependentOverrides: ['web'] }))
  await scene.hub.resource(overridePolicyResource).create(
    {
      apiVersion: 'policy.karmada.io/v1alpha1',
      kind: 'OverridePolicy',
      metadata: web,
      spec: { overrideRules: [rule] },
    },
    soon(),
  )
  const imageOf = (object: Deployment | undefined) =>
    object?.spec?.template.spec?.containers[0]?.image
  const [atReef, atShore] = await Promise.all(
    ['reef', 'shore'].map((name) => untilWeb(scene, name, (object) => object !== undefined)),
  )
  assert.deepEqual(
    [imageOf(atReef), imageOf(atShore), atReef?.spec?.replicas],
    ['registry.example.com/web:1', 'shore.example.com/web:1', 2],
  )
  // Its namespace was sent along.
  await scene.edge('reef').resource(resources.namespaces).get({ name: 'shop' }, soon())
  const patch = { spec: { replicas: 3 } }
  await scene.hub.resource(resources.deployments).patch({ ...web, type: 'merge', patch }, soon())
  for (const name of ['reef', 'shore']) {
    await untilWeb(scene, name, (object) => object?.spec?.replicas === 3)
  }
  await scene.hub.resource(resources.deployments).delete(web, soon())
  for (const name of ['reef', 'shore']) {
    await untilWeb(scene, name, (object) => object === undefined)
  }
})

test('the state of the copies is reported on the binding and on the object itself', async () => {
  await using scene = await startFleetScene(['reef', 'shore'], soon())
  await propagate(scene, deployment())
  for (const name of ['reef', 'shore']) {
    await untilWeb(scene, name, (object) => object !== undefined)
    await reportReady(scene, name, 2)
  }
  const { hub } = scene
  const bound = await scene.until(
    { api: hub, resource: resourceBindingResource, key: webBinding },
    (binding) =>
      binding?.status?.aggregatedStatus?.filter(({ health }) => health === 'Healthy').length === 2,
  )
  assert.deepEqual(
    bound?.status?.aggregatedStatus?.map(({ clusterName, applied }) => ({ clusterName, applied })),
    [
      { clusterName: 'reef', applied: true },
      { clusterName: 'shore', applied: true },
    ],
  )
  const key = { api: hub, resource: resourceBindingResource, key: webBinding }
  await scene.until(key, (binding) =>
    (binding?.status?.conditions ?? []).some(
      ({ type, status }) => type === 'FullyApplied' && status === 'True',
    ),
  )
})

test('changes made at a cluster are reverted, and nothing goes to a suspended cluster', async () => {
  await using scene = await startFleetScene(['reef', 'shore'], soon())
  const suspension = { dispatchingOnClusters: { clusterNames: ['shore'] } }
  await propagate(scene, deployment(), policy({ suspension }))
  await untilWeb(scene, 'reef', (object) => object !== undefined)
  const patch = { spec: { replicas: 7 } }
  const deployments = scene.edge('reef').resource(resources.deployments)
  await deployments.patch({ ...web, type: 'merge', patch }, soon())
  await untilWeb(scene, 'reef', (object) => object?.spec?.replicas === 2)
  const key = { namespace: executionNamespace('shore'), name: webWork }
  await scene.until({ api: scene.hub, resource: workResource, key }, (work) =>
    (work?.status?.conditions ?? []).some(({ reason }) => reason === 'SuspendDispatching'),
  )
  const { items } = await scene.edge('shore').resource(resources.deployments).list({}, soon())
  assert.deepEqual(items, [])
})

test("an object's dependencies go with it, and leave when they are no longer needed", async () => {
  await using scene = await startFleetScene(['reef'], soon())
  const volumes = [{ name: 'settings', configMap: { name: 'settings' } }]
  const template = deployment()
  const containers = [{ name: 'web', image: 'web' }]
  const pod = { metadata: { labels: { app: 'web' } }, spec: { containers, volumes } }
  await propagate(
    scene,
    deployment({ template: pod }),
    policy({ propagateDeps: true, placement: { clusterAffinity: { clusterNames: ['reef'] } } }),
  )
  await untilWeb(scene, 'reef', (object) => object !== undefined)
  // A dependency that is created after the object is sent, too.
  await scene.hub.resource(resources.configMaps).create(configMap('green'), soon())
  const where = { api: scene.edge('reef'), resource: resources.configMaps, key: settings }
  await scene.until(where, (object) => object?.data?.['colour'] === 'green')
  const patch = { data: { colour: 'red' } }
  await scene.hub
    .resource(resources.configMaps)
    .patch({ ...settings, type: 'merge', patch }, soon())
  await scene.until(where, (object) => object?.data?.['colour'] === 'red')
  const fresh = await scene.hub.resource(anyDeployments).get(web, soon())
  await scene.hub.resource(anyDeployments).update({ ...fresh, spec: template['spec'] }, soon())
  await scene.until(where, (object) => object === undefined)
})

test('an object that loses its policy loses the claim, stays where it is, and may have another policy', async () => {
  await using scene = await startFleetScene(['reef', 'shore'], soon())
  const onReef = { clusterAffinity: { clusterNames: ['reef'] } }
  const onShore = { clusterAffinity: { clusterNames: ['shore'] } }
  await propagate(scene, deployment(), policy({ placement: onReef }))
  await untilWeb(scene, 'reef', (object) => object !== undefined)
  await scene.hub.resource(propagationPolicyResource).delete(web, soon())
  const template = { api: scene.hub, resource: resources.deployments, key: web }
  const idLabel = 'propagationpolicy.karmada.io/permanent-id'
  await scene.until(template, (object) => object?.metadata.labels?.[idLabel] === undefined)
  await untilWeb(scene, 'reef', (object) => object !== undefined)
  const next = policy({ placement: onShore })
  await scene.hub
    .resource(propagationPolicyResource)
    .create({ ...next, metadata: { ...web, name: 'other' } }, soon())
  await untilWeb(scene, 'shore', (object) => object !== undefined)
  await untilWeb(scene, 'reef', (object) => object === undefined)
})

test('a policy of higher priority that asks for it takes an object from another one', async () => {
  await using scene = await startFleetScene(['reef', 'shore'], soon())
  const onReef = { clusterAffinity: { clusterNames: ['reef'] } }
  const onShore = { clusterAffinity: { clusterNames: ['shore'] } }
  await propagate(scene, deployment(), policy({ placement: onReef }))
  await untilWeb(scene, 'reef', (object) => object !== undefined)
  const taker = policy({ placement: onShore, priority: 1, preemption: 'Always' })
  await scene.hub
    .resource(propagationPolicyResource)
    .create({ ...taker, metadata: { ...web, name: 'taker' } }, soon())
  await untilWeb(scene, 'shore', (object) => object !== undefined)
  await untilWeb(scene, 'reef', (object) => object === undefined)
})

test('objects without a namespace follow a policy of the fleet, and those that it does not select do not', async () => {
  await using scene = await startFleetScene(['reef'], soon())
  const role = (name: string, labels: Record<string, string>): ClusterRole => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name, labels },
    rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
  })
  const labelSelector = { matchLabels: { fleet: 'yes' } }
  const { apiVersion, kind } = role('', {})
  await scene.hub.resource(clusterPropagationPolicyResource).create(
    {
      apiVersion: 'policy.karmada.io/v1alpha1',
      kind: 'ClusterPropagationPolicy',
      metadata: { name: 'roles' },
      spec: { resourceSelectors: [{ apiVersion, kind, labelSelector }] },
    },
    soon(),
  )
  const roles = scene.hub.resource(resources.clusterRoles)
  await roles.create(role('own:hub', {}), soon())
  await roles.create(role('till:reader', { fleet: 'yes' }), soon())
  const where = { api: scene.edge('reef'), resource: resources.clusterRoles }
  await scene.until({ ...where, key: { name: 'till:reader' } }, (object) => object !== undefined)
  const { items } = await scene.edge('reef').resource(resources.clusterRoles).list({}, soon())
  assert.ok(!items.some(({ metadata }) => metadata.name === 'own:hub'))
  await roles.delete({ name: 'till:reader' }, soon())
  await scene.until({ ...where, key: { name: 'till:reader' } }, (object) => object === undefined)
})

test('an object that is already as wanted is not written again', async () => {
  await using scene = await startFleetScene(['reef'], soon())
  const every = { resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment' }] }
  await propagate(scene, deployment(), policy({ ...every, placement: {} }))
  await untilWeb(scene, 'reef', (object) => object !== undefined)
  const work = { namespace: executionNamespace('reef'), name: webWork }
  const settled = await scene.until(
    { api: scene.hub, resource: resourceBindingResource, key: webBinding },
    (binding) => binding?.status?.aggregatedStatus?.[0]?.health === 'Unhealthy',
  )
  const first = await scene.hub.resource(workResource).get(work, soon())
  // Another object goes the whole way there and back.
  const other = { ...deployment(), metadata: { namespace: 'shop', name: 'other' } }
  await scene.hub.resource(anyDeployments).create(other, soon())
  const otherBinding = { namespace: 'shop', name: 'other-deployment' }
  await scene.until(
    { api: scene.hub, resource: resourceBindingResource, key: otherBinding },
    (binding) => binding?.status?.aggregatedStatus?.[0]?.health === 'Unhealthy',
  )
  const { metadata } = await scene.hub.resource(workResource).get(work, soon())
  assert.equal(metadata.generation, first.metadata.generation)
  const binding = await scene.hub.resource(resourceBindingResource).get(webBinding, soon())
  assert.equal(binding.metadata.generation, settled?.metadata.generation)
})

test('an object that a policy no longer selects is released, and stays where it is', async () => {
  await using scene = await startFleetScene(['reef'], soon())
  await propagate(scene, deployment(), policy({ placement: {} }))
  await untilWeb(scene, 'reef', (object) => object !== undefined)
  const resourceSelectors = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'settings' }]
  await scene.hub.resource(resources.configMaps).create(configMap('green'), soon())
  await scene.hub
    .resource(propagationPolicyResource)
    .patch({ ...web, type: 'merge', patch: { spec: { resourceSelectors } } }, soon())
  const where = { api: scene.edge('reef'), resource: resources.configMaps, key: settings }
  await scene.until(where, (object) => object !== undefined)
  const template = { api: scene.hub, resource: resources.deployments, key: web }
  const idLabel = 'propagationpolicy.karmada.io/permanent-id'
  await scene.until(template, (object) => object?.metadata.labels?.[idLabel] === undefined)
  const binding = await scene.until(
    { api: scene.hub, resource: resourceBindingResource, key: webBinding },
    (object) => object?.metadata.labels?.[idLabel] === undefined,
  )
  assert.deepEqual(
    binding?.spec.clusters?.map(({ name }) => name),
    ['reef'],
  )
  await untilWeb(scene, 'reef', (object) => object !== undefined)
})

test('a cluster that is removed keeps its objects, and so do the others', async () => {
  await using scene = await startFleetScene(['reef', 'shore'], soon())
  await propagate(scene, deployment(), policy({ placement: {} }))
  for (const name of ['reef', 'shore']) {
    await untilWeb(scene, name, (object) => object !== undefined)
  }
  const { hub } = scene
  await hub.resource(clusterResource).delete({ name: 'reef' }, soon())
  const cluster = { api: hub, resource: clusterResource, key: { name: 'reef' } }
  await scene.until(cluster, (object) => object === undefined)
  const binding = { api: hub, resource: resourceBindingResource, key: webBinding }
  await scene.until(binding, (object) => object?.spec.clusters?.length === 1)
  // A change that the other one gets shows that all before it is done with.
  const patch = { spec: { replicas: 3 } }
  await hub.resource(resources.deployments).patch({ ...web, type: 'merge', patch }, soon())
  await untilWeb(scene, 'shore', (object) => object?.spec?.replicas === 3)
  const kept = await scene.edge('reef').resource(resources.deployments).get(web, soon())
  assert.deepEqual([kept.spec?.replicas, kept.metadata.deletionTimestamp], [2, undefined])
})

test('a namespace goes with its contents, unless it must not be made automatically', async () => {
  await using scene = await startFleetScene(['reef'], soon())
  const { hub } = scene
  const labels = { 'namespace.karmada.io/skip-auto-propagation': 'true' }
  await hub
    .resource(resources.namespaces)
    .patch({ name: 'shop', type: 'merge', patch: { metadata: { labels } } }, soon())
  await propagate(scene, deployment(), policy({ placement: {} }))
  await untilWeb(scene, 'reef', (object) => object !== undefined)
  const metadata = { namespace: 'till', name: 'web' }
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'till' } }
  await hub.resource(resources.namespaces).create(namespace, soon())
  await propagate(scene, { ...deployment(), metadata }, { ...policy({ placement: {} }), metadata })
  const where = { api: scene.edge('reef'), resource: resources.namespaces, key: { name: 'till' } }
  await scene.until(where, (object) => object !== undefined)
  const { items } = await scene.edge('reef').resource(resources.namespaces).list({}, soon())
  assert.ok(!items.some((each) => each.metadata.name === 'shop'))
})

test('if a namespace cannot be made as wanted in one cluster, the other clusters still have it', async () => {
  await using scene = await startFleetScene(['reef', 'shore'], soon())
  const { hub } = scene
  const overriders = { plaintext: [{ path: '/data/x', operator: 'remove' as const }] }
  await hub.resource(clusterOverridePolicyResource).create(
    {
      apiVersion: 'policy.karmada.io/v1alpha1',
      kind: 'ClusterOverridePolicy',
      metadata: { name: 'wrong' },
      spec: {
        resourceSelectors: [{ apiVersion: 'v1', kind: 'Namespace' }],
        overrideRules: [{ targetCluster: { clusterNames: ['reef'] }, overriders }],
      },
    },
    soon(),
  )
  await propagate(scene, deployment())
  const where = { api: scene.edge('shore'), resource: resources.namespaces, key: { name: 'shop' } }
  await scene.until(where, (object) => object !== undefined)
  const { items } = await scene.edge('reef').resource(resources.namespaces).list({}, soon())
  assert.ok(!items.some(({ metadata }) => metadata.name === 'shop'))
})

test('a binding or a Work that somebody deletes on the hub is made again', async () => {
  await using scene = await startFleetScene(['reef'], soon())
  await propagate(scene, deployment(), policy({ placement: {} }))
  await untilWeb(scene, 'reef', (object) => object !== undefined)
  const { hub } = scene
  const work = { namespace: executionNamespace('reef'), name: webWork }
  const { metadata } = await hub.resource(workResource).get(work, soon())
  await hub.resource(workResource).delete(work, soon())
  await scene.until({ api: hub, resource: workResource, key: work }, (object) => {
    return object !== undefined && object.metadata.uid !== metadata.uid
  })
  const { spec } = await hub.resource(resourceBindingResource).get(webBinding, soon())
  await hub.resource(resourceBindingResource).delete(webBinding, soon())
  const binding = { api: hub, resource: resourceBindingResource, key: webBinding }
  const again = await scene.until(binding, (object) => {
    return object?.metadata.deletionTimestamp === undefined && object?.spec.clusters?.length === 1
  })
  assert.deepEqual(again?.spec.clusters, spec.clusters)
})
