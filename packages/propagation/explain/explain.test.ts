import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '@skerry/base'
import { anyObjects, resources } from '@skerry/client'
import {
  clusterPropagationPolicyResource,
  overridePolicyResource,
  type PropagationPolicy,
  propagationPolicyResource,
  resourceBindingResource,
  waveKeys,
  type Work,
  workNameOf,
  workResource,
} from '@skerry/karmada-kinds'
import { executionNamespace } from '@skerry/fleet-kinds'
import { customizationResource } from '../../interpreter/custom/customization.ts'
import { deployment, startFleetScene, type FleetScene } from '../propagation/testing/fleet-scene.ts'
import { explain } from './explain.ts'

type PropagationSpec = PropagationPolicy['spec']

const soon = (): AbortSignal => AbortSignal.timeout(90_000)
const web = { namespace: 'shop', name: 'web' }
const ref = { kind: 'deploy', ...web }
const apiVersion = 'policy.karmada.io/v1alpha1'
/** The resource with objects that a test writes in parts. */
const anyDeployments = anyObjects(resources.deployments)

function spec(more: Partial<PropagationSpec> = {}): PropagationSpec {
  return { resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment' }], ...more }
}

async function untilWork(
  scene: FleetScene,
  cluster: string,
  isWanted: (work: Work) => boolean,
): Promise<void> {
  const key = {
    namespace: executionNamespace(cluster),
    name: workNameOf({ kind: 'Deployment', ...web }),
  }
  const where = { api: scene.hub, resource: workResource, key }
  await scene.until(where, (work) => work !== undefined && isWanted(work))
}

function untilApplied(scene: FleetScene, cluster: string): Promise<void> {
  return untilWork(scene, cluster, ({ status }) =>
    (status?.conditions ?? []).some((each) => each.type === 'Applied' && each.status === 'True'),
  )
}

test('an unclaimed object stays on the hub, and the explanation says so', async () => {
  await using scene = await startFleetScene(['pilot'], soon())
  await scene.hub.resource(anyDeployments).create(deployment(), soon())
  const told = await explain({ hub: scene.hub, clock: systemClock }, ref, soon())
  assert.deepEqual(told.claim, { why: 'no policy selects it: it stays on the hub', others: [] })
  assert.deepEqual(told.clusters, [
    { name: 'pilot', standing: 'NotPlaced', why: ['it is not propagated'], overrides: [] },
  ])
  await assert.rejects(
    explain({ hub: scene.hub, clock: systemClock }, { ...ref, kind: 'valve' }, soon()),
    {
      message: 'the hub has no kind "valve"',
    },
  )
})

test("an explanation names an object's policy and its clusters, and says why it is not elsewhere and why it waits", async () => {
  await using scene = await startFleetScene(['other', 'pilot', 'reef'], soon())
  const { hub } = scene
  const metadata = { name: 'all' }
  await hub
    .resource(clusterPropagationPolicyResource)
    .create({ apiVersion, kind: 'ClusterPropagationPolicy', metadata, spec: spec() }, soon())
  const placement = { clusterAffinity: { clusterNames: ['pilot', 'reef'] } }
  await hub.resource(propagationPolicyResource).create(
    {
      apiVersion,
      kind: 'PropagationPolicy',
      metadata: { ...web, annotations: { [waveKeys.waves]: 'site=pilot' } },
      spec: spec({ placement }),
    },
    soon(),
  )
  const overrideRules = [
    {
      targetCluster: { clusterNames: ['pilot'] },
      overriders: { labelsOverrider: [{ operator: 'add' as const, value: { till: 'yes' } }] },
    },
  ]
  await hub.resource(overridePolicyResource).create(
    {
      apiVersion,
      kind: 'OverridePolicy',
      metadata: { namespace: 'shop', name: 'tills' },
      spec: { overrideRules },
    },
    soon(),
  )
  await hub.resource(anyDeployments).create(deployment(), soon())
  await untilApplied(scene, 'pilot')
  const key = { namespace: 'shop', name: 'web-deployment' }
  await scene.until({ api: hub, resource: resourceBindingResource, key }, (binding) =>
    (binding?.status?.conditions ?? []).some(
      ({ type, status }) => type === 'Scheduled' && status === 'True',
    ),
  )
  const told = await explain({ hub, clock: systemClock }, ref, soon())
  assert.deepEqual(told.claim, {
    policy: { kind: 'PropagationPolicy', ...web },
    why: 'it comes first among those that select the object',
    others: [
      {
        policy: { kind: 'ClusterPropagationPolicy', name: 'all' },
        why: 'a policy of the namespace comes before those of the whole fleet',
      },
    ],
  })
  assert.equal(told.scheduled?.reason, 'Success')
  assert.deepEqual(told.waves, [
    { name: 'site=pilot', isOpen: true, well: 0, needed: 1, clusters: ['pilot'] },
    { name: 'rest', isOpen: false, well: 0, needed: 1, clusters: ['reef'] },
  ])
  const [other, pilot, reef] = told.clusters
  assert.equal(other?.standing, 'NotPlaced')
  assert.match(other.why.join(), /affinity/)
  assert.deepEqual(pilot, {
    name: 'pilot',
    standing: 'Unhealthy',
    replicas: 2,
    why: ['It is applied, and not healthy.'],
    overrides: [{ policy: 'tills', namespace: 'shop', rule: 0 }],
  })
  assert.deepEqual(reef?.standing, 'Held')
  assert.deepEqual(reef.why, [
    'Wave "rest" has not opened: it has none until 1 of wave "site=pilot" are healthy (0 are).',
  ])
})

test('an object as a customization revises it counts as the newest', async () => {
  await using scene = await startFleetScene(['pilot'], soon())
  const { hub } = scene
  const luaScript = 'function ReviseReplica(object) object.spec.replicas = 7 return object end'
  await hub.resource(customizationResource).create(
    {
      apiVersion: 'config.karmada.io/v1alpha1',
      kind: 'ResourceInterpreterCustomization',
      metadata: { name: 'web' },
      spec: {
        target: { apiVersion: 'apps/v1', kind: 'Deployment' },
        customizations: { replicaRevision: { luaScript } },
      },
    },
    soon(),
  )
  await hub.resource(propagationPolicyResource).create(
    {
      apiVersion,
      kind: 'PropagationPolicy',
      metadata: { ...web, annotations: { [waveKeys.waves]: '100%' } },
      spec: spec(),
    },
    soon(),
  )
  await hub.resource(anyDeployments).create(deployment(), soon())
  await untilApplied(scene, 'pilot')
  const counts = { replicas: 7, updatedReplicas: 7, readyReplicas: 7, availableReplicas: 7 }
  const patch = { status: { ...counts, observedGeneration: 1 } }
  const deployments = scene.edge('pilot').resource(resources.deployments)
  await deployments.patchStatus({ ...web, type: 'merge', patch }, soon())
  await untilWork(
    scene,
    'pilot',
    ({ status }) => status?.manifestStatuses?.[0]?.health === 'Healthy',
  )
  const told = await explain({ hub, clock: systemClock }, ref, soon())
  assert.deepEqual(told.waves[0], {
    name: '100%',
    isOpen: true,
    well: 1,
    needed: 1,
    clusters: ['pilot'],
  })
})
