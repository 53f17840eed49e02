import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Deployment } from '@skerry/api'
import { resources } from '@skerry/client'
import { startEdgeWorld, type EdgeWorld } from '../testing/edge-world.ts'
import { edgeApplications } from './edge-application.ts'

const namespace = 'default'
const belongsTo = 'apps.kubeedge.io/belonging-to'

const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', labels: { team: 'a' } },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { nodeSelector: { disk: 'ssd' }, containers: [{ name: 'c', image: 'reg.io/web:1.0' }] },
    },
  },
}

const config = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'web' },
  data: { greeting: 'hello' },
}

const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web' },
  spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
}

const twoGroups = {
  targetNodeGroups: [
    {
      name: 'g1',
      overriders: {
        replicas: 3,
        imageOverriders: [{ component: 'Tag', operator: 'replace', value: '2.0' }],
      },
    },
    { name: 'nogroup' },
  ],
}

async function startApplication(
  manifests: readonly object[],
  spec: object = {},
): Promise<EdgeWorld> {
  const world = await startEdgeWorld(['kubeedge'])
  await world.eventually(resources.customResourceDefinitions, (all) =>
    all.some(({ metadata }) => metadata.name === 'edgeapplications.apps.kubeedge.io')
      ? true
      : undefined,
  )
  await world.node('n1', { [belongsTo]: 'g1' })
  await world.eventually(edgeApplications, () => true)
  await world.create(edgeApplications, {
    apiVersion: 'apps.kubeedge.io/v1alpha1',
    kind: 'EdgeApplication',
    metadata: { name: 'shop', namespace },
    spec: { workloadTemplate: { manifests }, workloadScope: twoGroups, ...spec },
  })
  return world
}

function deployments(world: EdgeWorld, names: readonly string[]): Promise<Map<string, Deployment>> {
  return world.eventually(resources.deployments, (all) => {
    const found = new Map(all.map((each) => [each.metadata.name ?? '', each]))
    const isAll = found.size === names.length && names.every((name) => found.has(name))
    return isAll ? found : undefined
  })
}

const statusOf = (world: EdgeWorld, phase: string) =>
  world.eventually(edgeApplications, ([app]) =>
    app?.status?.groups?.some((each) => each.phase === phase) ? app.status : undefined,
  )

test('each group has a Deployment of its own, and other objects exist once', async () => {
  await using world = await startApplication([deployment, config, service])
  const found = await deployments(world, ['web-g1', 'web-nogroup'])
  const first = found.get('web-g1')
  assert.equal(first?.spec?.replicas, 3)
  assert.equal(first.spec.template.spec?.containers[0]?.image, 'reg.io/web:2.0')
  assert.deepEqual(first.spec.template.spec.nodeSelector, { disk: 'ssd', [belongsTo]: 'g1' })
  assert.deepEqual(first.metadata.labels, { team: 'a' })
  assert.equal(found.get('web-nogroup')?.spec?.replicas, 2)
  const made = await world.eventually(resources.services, (all) =>
    all.find(({ metadata }) => metadata.name === 'web'),
  )
  assert.equal(made.metadata.annotations?.['apps.kubeedge.io/service-topology'], 'range-nodegroup')
  const status = await statusOf(world, 'Ready')
  const identifier = { version: 'v1', namespace }
  assert.deepEqual(status['workloadStatus'], [
    {
      identifier: { ...identifier, ordinal: 0, group: 'apps', kind: 'Deployment', name: 'web-g1' },
      conditions: 'Processing',
    },
    {
      identifier: {
        ...identifier,
        ordinal: 0,
        group: 'apps',
        kind: 'Deployment',
        name: 'web-nogroup',
      },
      conditions: 'Processing',
    },
    {
      identifier: { ...identifier, ordinal: 1, kind: 'ConfigMap', name: 'web' },
      conditions: 'Available',
    },
    {
      identifier: { ...identifier, ordinal: 2, kind: 'Service', name: 'web' },
      conditions: 'Available',
    },
  ])
})

test('a group or a manifest that is taken out takes its children along, and nothing else changes', async () => {
  await using world = await startApplication([config, deployment, service])
  const before = await deployments(world, ['web-g1', 'web-nogroup'])
  const manifests = [deployment, service]
  const workloadScope = { targetNodeGroups: [{ name: 'g1' }] }
  const spec = { workloadTemplate: { manifests }, workloadScope }
  await world.patch(edgeApplications, { name: 'shop', namespace }, { spec })
  await world.eventually(resources.configMaps, (all) =>
    all.some(({ metadata }) => metadata.name === 'web') ? undefined : true,
  )
  const after = await deployments(world, ['web-g1'])
  assert.equal(after.get('web-g1')?.metadata.uid, before.get('web-g1')?.metadata.uid)
})

test('a child that a person has scaled stays so, unless the application says otherwise', async () => {
  await using world = await startApplication([deployment])
  await deployments(world, ['web-g1', 'web-nogroup'])
  const key = { name: 'web-g1', namespace }
  await world.patch(resources.deployments, key, { spec: { replicas: 7 } })
  await statusOf(world, 'Edited')
  const policy = { spec: { groupPolicy: { childEdits: 'PutBack' } } }
  await world.patch(edgeApplications, { name: 'shop', namespace }, policy)
  await world.eventually(resources.deployments, (all) =>
    all.find(({ metadata, spec }) => metadata.name === 'web-g1' && spec?.replicas === 3),
  )
})

test('content that a person changes in an object without a generation is put back', async () => {
  await using world = await startApplication([config], { groupPolicy: { childEdits: 'PutBack' } })
  const greets = (word: string) =>
    world.eventually(resources.configMaps, (all) =>
      all.find(({ metadata, data }) => metadata.name === 'web' && data?.['greeting'] === word),
    )
  const { metadata } = await greets('hello')
  await world.patch(resources.configMaps, { name: 'web', namespace }, { data: { greeting: 'bye' } })
  await world.eventually(resources.configMaps, (all) =>
    all.find(
      (each) =>
        each.metadata.uid === metadata.uid &&
        each.metadata.resourceVersion !== metadata.resourceVersion,
    ),
  )
  await greets('hello')
})

test('an application makes nothing that the role edit could not make', async () => {
  const role = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'all-mine' },
  }
  const elsewhere = { ...config, metadata: { name: 'web', namespace: 'kube-system' } }
  const nameless = { apiVersion: 'v1', kind: 'ConfigMap' }
  await using world = await startApplication([role, elsewhere, nameless, service])
  const { groups = [] } = await statusOf(world, 'Refused')
  const shown = groups.map(({ kind, child, phase, reason }) => [kind, child, phase, reason])
  assert.deepEqual(shown, [
    ['', '', 'Refused', 'InvalidManifest'],
    ['ClusterRoleBinding', 'all-mine', 'Refused', 'KindNotSupported'],
    ['ConfigMap', 'web', 'Refused', 'OtherNamespace'],
    ['Service', 'web', 'Updating', 'Created'],
  ])
})

test('nodes that are selected by labels are a group, whose name is hashed as in KubeEdge', async () => {
  const labelSelector = {
    matchLabels: { hall: 'h9' },
    matchExpressions: [{ key: 'gpu', operator: 'Exists' }],
  }
  const onlyLabels = { matchLabels: { hall: 'h9' } }
  const targetNodeLabels = [{ labelSelector: onlyLabels }, { labelSelector }]
  const workloadScope = { targetNodeLabels }
  await using world = await startApplication([deployment], { workloadScope })
  const found = await world.eventually(resources.deployments, (all) =>
    all.length === 2 ? all : undefined,
  )
  // The first 4 bytes of the SHA-256 of "hallh9".
  const byLabels = found.find(({ metadata }) => metadata.name === 'web-ls-7f2e94a6')
  const terms = found.map(
    ({ spec }) =>
      spec?.template.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
        ?.nodeSelectorTerms[0]?.matchExpressions,
  )
  assert.ok(byLabels, found.map(({ metadata }) => metadata.name).join())
  const hall = { key: 'hall', operator: 'In', values: ['h9'] }
  assert.ok(terms.some((each) => JSON.stringify(each) === JSON.stringify([hall])))
  assert.ok(terms.some((each) => each?.[1]?.operator === 'Exists'))
})
