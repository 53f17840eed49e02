import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ConfigMap, Deployment } from '@skerry/api'
import { anyObjects, resources } from '@skerry/client'
import {
  propagationPolicyResource,
  resourceBindingResource,
  waveKeys,
  workNameOf,
  workResource,
  type PropagationPolicy,
  type Work,
} from '@skerry/karmada-kinds'
import { clusterResource, executionNamespace } from '@skerry/fleet-kinds'
import { deployment, startFleetScene, type FleetScene } from './testing/fleet-scene.ts'

const soon = (): AbortSignal => AbortSignal.timeout(90_000)
const web = { namespace: 'shop', name: 'web' }
const webWork = workNameOf({ kind: 'Deployment', ...web })
/** The resource with objects that a test writes in parts. */
const anyDeployments = anyObjects(resources.deployments)

function policy(waves: string): PropagationPolicy {
  return {
    apiVersion: 'policy.karmada.io/v1alpha1',
    kind: 'PropagationPolicy',
    metadata: { ...web, annotations: { [waveKeys.waves]: waves } },
    spec: {
      resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }],
      placement: { clusterAffinity: { clusterNames: ['pilot', 'reef'] } },
    },
  }
}

function untilWeb(
  scene: FleetScene,
  cluster: string,
  isWanted: (object: Deployment | undefined) => boolean,
): Promise<Deployment | undefined> {
  const where = { api: scene.edge(cluster), resource: resources.deployments, key: web }
  return scene.until(where, isWanted)
}

function untilWork(
  scene: FleetScene,
  cluster: string,
  isWanted: (work: Work | undefined) => boolean,
) {
  const key = { namespace: executionNamespace(cluster), name: webWork }
  return scene.until({ api: scene.hub, resource: workResource, key }, isWanted)
}

/** Reports whether this generation of the Work is applied. */
function isApplied(work: Work | undefined, generation: number): boolean {
  const conditions = work?.status?.conditions ?? []
  return conditions.some(
    ({ type, status, observedGeneration }) =>
      type === 'Applied' && status === 'True' && observedGeneration === generation,
  )
}

/** Reports as the controllers of a cluster would: the pods of all replicas run. */
async function reportReady(scene: FleetScene, cluster: string, generation: number): Promise<void> {
  const counts = { replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 }
  const patch = { status: { ...counts, observedGeneration: generation } }
  const deployments = scene.edge(cluster).resource(resources.deployments)
  await deployments.patchStatus({ ...web, type: 'merge', patch }, soon())
}

async function worksAt({ hub }: FleetScene, cluster: string): Promise<readonly Work[]> {
  const namespace = executionNamespace(cluster)
  const { items } = await hub.resource(workResource).list({ namespace }, soon())
  return items.filter(({ metadata }) => metadata.name === webWork)
}

function imageOf(object: Deployment | undefined): string | undefined {
  return object?.spec?.template.spec?.containers[0]?.image
}

test('the next wave opens when all present clusters are well; an absent one holds up nobody', async () => {
  await using scene = await startFleetScene(['pilot', 'reef'], soon())
  await scene.hub.resource(propagationPolicyResource).create(policy('site=pilot'), soon())
  await scene.hub.resource(anyDeployments).create(deployment(), soon())
  await untilWork(scene, 'pilot', (work) => isApplied(work, 1))
  assert.deepEqual(await worksAt(scene, 'reef'), [])
  await reportReady(scene, 'pilot', 1)
  await untilWeb(scene, 'reef', (object) => object !== undefined)
  await reportReady(scene, 'reef', 1)

  const containers = [{ name: 'web', image: 'registry.example.com/web:2' }]
  const patch = { spec: { template: { spec: { containers } } } }
  await scene.hub.resource(resources.deployments).patch({ ...web, type: 'merge', patch }, soon())
  await untilWeb(scene, 'pilot', (object) => imageOf(object) === 'registry.example.com/web:2')
  const atReef = await scene.edge('reef').resource(resources.deployments).get(web, soon())
  assert.equal(imageOf(atReef), 'registry.example.com/web:1')

  const away = {
    type: 'Ready',
    status: 'False',
    reason: 'Away',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }
  const clusters = scene.hub.resource(clusterResource)
  const status = { conditions: [away] }
  await clusters.patchStatus({ name: 'pilot', type: 'merge', patch: { status } }, soon())
  await untilWeb(scene, 'reef', (object) => imageOf(object) === 'registry.example.com/web:2')
})

test('a dependency that an object no longer needs stays until its last wave has the current object', async () => {
  await using scene = await startFleetScene(['pilot', 'reef'], soon())
  const { hub } = scene
  const { spec, ...given } = policy('site=pilot')
  const taking = { ...given, spec: { ...spec, propagateDeps: true } }
  await hub.resource(propagationPolicyResource).create(taking, soon())
  const configMap = (name: string): ConfigMap => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'shop', name },
  })
  const using = (name: string) => {
    const containers = [{ name: 'web', image: 'web' }]
    const volumes = [{ name: 'settings', configMap: { name } }]
    return { template: { metadata: { labels: { app: 'web' } }, spec: { containers, volumes } } }
  }
  const needs = (name: string, attached: boolean) => {
    const key = { namespace: 'shop', name: `${name}-configmap` }
    const where = { api: hub, resource: resourceBindingResource, key }
    return scene.until(where, (each) => (each?.spec.requiredBy?.length === 1) === attached)
  }
  await hub.resource(resources.configMaps).create(configMap('old'), soon())
  await hub.resource(resources.configMaps).create(configMap('new'), soon())
  await hub.resource(anyDeployments).create(deployment(using('old')), soon())
  await untilWork(scene, 'pilot', (work) => isApplied(work, 1))
  await reportReady(scene, 'pilot', 1)
  await untilWeb(scene, 'reef', (object) => object !== undefined)
  await reportReady(scene, 'reef', 1)
  await needs('old', true)

  const patch = { spec: using('new') }
  await hub.resource(resources.deployments).patch({ ...web, type: 'merge', patch }, soon())
  await needs('new', true)
  const key = { namespace: 'shop', name: 'old-configmap' }
  const kept = await hub.resource(resourceBindingResource).get(key, soon())
  assert.equal(kept.spec.requiredBy?.length, 1)
  await untilWork(scene, 'pilot', (work) => isApplied(work, 2))
  await reportReady(scene, 'pilot', 2)
  await needs('old', false)
  const atReef = { api: scene.edge('reef'), resource: resources.configMaps }
  const old = { namespace: 'shop', name: 'old' }
  await scene.until({ ...atReef, key: old }, (object) => object === undefined)
})

test('unreadable waves are refused, with the mistake', async () => {
  await using scene = await startFleetScene([], soon())
  const policies = scene.hub.resource(propagationPolicyResource)
  await assert.rejects(policies.create(policy('site=pilot; 0%'), soon()), {
    reason: 'Invalid',
    message: /Cannot read annotation hub\.skerry\.io\/waves: "0" is not a number from 1 to 100/,
  })
  await policies.create(policy('site=pilot; 10%'), soon())
  const patch = { metadata: { annotations: { [waveKeys.healthyPercent]: 'most' } } }
  await assert.rejects(policies.patch({ ...web, type: 'merge', patch }, soon()), {
    reason: 'Invalid',
  })
})

test('without its annotation a policy sends to all remaining clusters at once', async () => {
  await using scene = await startFleetScene(['pilot', 'reef'], soon())
  const policies = scene.hub.resource(propagationPolicyResource)
  await policies.create(policy('site=pilot'), soon())
  await scene.hub.resource(anyDeployments).create(deployment(), soon())
  await untilWork(scene, 'pilot', (work) => isApplied(work, 1))
  const patch = { metadata: { annotations: { [waveKeys.waves]: null } } }
  await policies.patch({ ...web, type: 'merge', patch }, soon())
  await untilWeb(scene, 'reef', (object) => object !== undefined)
})
