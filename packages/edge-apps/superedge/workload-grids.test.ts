import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Deployment } from '@skerry/api'
import { resources } from '@skerry/client'
import { deploymentGrids, serviceGrids, statefulSetGrids } from './grid.ts'
import { startEdgeWorld, type EdgeWorld } from '../testing/edge-world.ts'

const namespace = 'default'
const web = { name: 'web', namespace }

function template(image: string, more: object = {}) {
  return {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'c', image }], ...more },
    },
  }
}

function grid(spec: object = {}) {
  return {
    apiVersion: 'superedge.io/v1',
    kind: 'DeploymentGrid',
    metadata: { ...web, labels: { team: 'a' }, annotations: { note: 'hello' } },
    spec: { gridUniqKey: 'zone1', template: template('nginx:1.25'), ...spec },
  }
}

const imageOf = ({ spec }: Deployment): string | undefined =>
  spec?.template.spec?.containers[0]?.image

/** Returns the children by name once there are as many. */
function children(world: EdgeWorld, names: readonly string[]): Promise<Map<string, Deployment>> {
  return world.eventually(resources.deployments, (all) => {
    const found = new Map(all.map((each) => [each.metadata.name ?? '', each]))
    const isAll = found.size === names.length && names.every((name) => found.has(name))
    return isAll ? found : undefined
  })
}

async function startShops(spec: object = {}): Promise<EdgeWorld> {
  const world = await startEdgeWorld(['superedge'])
  await world.eventually(resources.customResourceDefinitions, (all) =>
    all.some(({ metadata }) => metadata.name === 'nodegroups.site.superedge.io') ? true : undefined,
  )
  await world.node('n1', { zone1: 'shanghai' })
  await world.node('n2', { zone1: 'shanghai' })
  await world.node('n3', { zone1: 'beijing' })
  await world.eventually(deploymentGrids, () => true)
  await world.create(deploymentGrids, grid(spec))
  return world
}

test('each value of the label has a Deployment of its own, with SuperEdge’s names, labels and node selector', async () => {
  await using world = await startShops()
  const found = await children(world, ['web-beijing', 'web-shanghai'])
  const { metadata, spec } = found.get('web-beijing') ?? assert.fail('no child of beijing')
  assert.deepEqual(metadata.labels, {
    team: 'a',
    'superedge.io/grid-selector': 'web',
    'superedge.io/grid-uniq-key': 'zone1',
  })
  const [owner] = metadata.ownerReferences ?? []
  const { kind, name, controller, blockOwnerDeletion } = owner ?? {}
  assert.deepEqual(
    { kind, name, controller, blockOwnerDeletion },
    { kind: 'DeploymentGrid', name: 'web', controller: true, blockOwnerDeletion: true },
  )
  assert.equal(metadata.annotations?.['note'], undefined)
  assert.deepEqual(spec?.template.spec?.nodeSelector, { zone1: 'beijing' })
  assert.equal(spec?.replicas, 2)
  assert.match(spec?.template.metadata?.labels?.['superedge.io/template-hash-key'] ?? '', /^\d+$/)
})

test('states show replicas and availability of each unit’s child', async () => {
  await using world = await startShops()
  await children(world, ['web-beijing', 'web-shanghai'])
  const at = '2026-01-01T12:00:00Z'
  const times = { lastTransitionTime: at, lastUpdateTime: at }
  const conditions = [
    { ...times, type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable' },
    { ...times, type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable' },
  ]
  const status = {
    observedGeneration: 1,
    replicas: 2,
    updatedReplicas: 2,
    readyReplicas: 2,
    availableReplicas: 2,
    conditions,
  }
  await world.cluster
    .resource(resources.deployments)
    .patchStatus({ name: 'web-beijing', namespace, type: 'merge', patch: { status } }, world.signal)
  const shown = await world.eventually(deploymentGrids, ([each]) => {
    const isReady = each?.status?.groups?.some(({ phase }) => phase === 'Ready')
    return isReady ? each?.status : undefined
  })
  assert.deepEqual(shown['states'], {
    beijing: { replicas: 2, readyReplicas: 2, conditions: conditions.slice(0, 1) },
    shanghai: {},
  })
  assert.deepEqual(
    shown.groups?.map(({ name, child, phase, nodes, readyNodes }) => ({
      name,
      child,
      phase,
      nodes,
      readyNodes,
    })),
    [
      { name: 'beijing', child: 'web-beijing', phase: 'Ready', nodes: 1, readyNodes: 1 },
      { name: 'shanghai', child: 'web-shanghai', phase: 'Updating', nodes: 2, readyNodes: 2 },
    ],
  )
})

test('a changed template reaches every child, and additions of others stay', async () => {
  await using world = await startShops()
  await children(world, ['web-beijing', 'web-shanghai'])
  const child = { name: 'web-beijing', namespace }
  await world.patch(resources.deployments, child, { metadata: { labels: { own: 'yes' } } })
  const spec = { template: template('nginx:1.26') }
  await world.patch(deploymentGrids, web, { spec })
  const found = await world.eventually(resources.deployments, (all) =>
    all.length === 2 && all.every((each) => imageOf(each) === 'nginx:1.26') ? all : undefined,
  )
  const beijing = found.find(({ metadata }) => metadata.name === 'web-beijing')
  assert.equal(beijing?.metadata.labels?.['own'], 'yes')
})

test('a child that a person edits or deletes is put back', async () => {
  await using world = await startShops()
  await children(world, ['web-beijing', 'web-shanghai'])
  const child = { name: 'web-beijing', namespace }
  await world.patch(resources.deployments, child, { spec: { replicas: 5 } })
  await world.eventually(resources.deployments, (all) =>
    all.every(({ spec, metadata }) => spec?.replicas === 2 && (metadata.generation ?? 0) !== 2) &&
    all.length === 2
      ? true
      : undefined,
  )
  await world.cluster.resource(resources.deployments).delete(child, world.signal)
  await children(world, ['web-beijing', 'web-shanghai'])
})

test('a child that a person edits stays if the policy says so, and the status names it', async () => {
  await using world = await startShops({ groupPolicy: { childEdits: 'Keep' } })
  await children(world, ['web-beijing', 'web-shanghai'])
  await world.patch(
    resources.deployments,
    { name: 'web-beijing', namespace },
    { spec: { replicas: 5 } },
  )
  const states = await world.eventually(deploymentGrids, ([each]) => {
    const groups = each?.status?.groups ?? []
    return groups.some(({ phase }) => phase === 'Edited') ? groups : undefined
  })
  assert.deepEqual(
    states.map(({ name, phase }) => [name, phase]),
    [
      ['beijing', 'Edited'],
      ['shanghai', 'Updating'],
    ],
  )
  const kept = await world.cluster
    .resource(resources.deployments)
    .get({ name: 'web-beijing', namespace }, world.signal)
  assert.equal(kept.spec?.replicas, 5)
})

test('with edits kept, a changed template reaches the child but for the fields that were edited', async () => {
  await using world = await startShops({ groupPolicy: { childEdits: 'Keep' } })
  await children(world, ['web-beijing', 'web-shanghai'])
  const child = { name: 'web-beijing', namespace }
  await world.patch(resources.deployments, child, { spec: { replicas: 5 } })
  await world.patch(deploymentGrids, web, {
    spec: { template: { ...template('nginx:2'), replicas: 3 } },
  })
  const all = await world.eventually(resources.deployments, (found) =>
    found.every((each) => imageOf(each) === 'nginx:2') ? found : undefined,
  )
  const replicas = all.map(({ metadata, spec }) => `${metadata.name} ${spec?.replicas}`)
  assert.deepEqual(new Set(replicas), new Set(['web-beijing 5', 'web-shanghai 3']))
})

test('a new value of the label makes a child, and the last node of a value takes it away after the grace time', async () => {
  await using world = await startShops({ groupPolicy: { vanishedGraceSeconds: 0 } })
  await children(world, ['web-beijing', 'web-shanghai'])
  await world.patch(resources.nodes, { name: 'n2' }, { metadata: { labels: { zone1: 'tianjin' } } })
  await children(world, ['web-beijing', 'web-shanghai', 'web-tianjin'])
  await world.patch(resources.nodes, { name: 'n3' }, { metadata: { labels: { zone1: null } } })
  await children(world, ['web-shanghai', 'web-tianjin'])
})

test('the child of a vanished group is kept for the grace time, and goes on when the group is back', async () => {
  await using world = await startShops()
  await children(world, ['web-beijing', 'web-shanghai'])
  const phases = (phase: string) =>
    world.eventually(deploymentGrids, ([each]) =>
      each?.status?.groups?.some((group) => group.name === 'beijing' && group.phase === phase)
        ? true
        : undefined,
    )
  await world.patch(resources.nodes, { name: 'n3' }, { metadata: { labels: { zone1: null } } })
  await phases('Vanished')
  await children(world, ['web-beijing', 'web-shanghai'])
  await world.patch(resources.nodes, { name: 'n3' }, { metadata: { labels: { zone1: 'beijing' } } })
  await phases('Updating')
})

test('a unit has a template of its own by name; an unknown name stops this unit alone, and says so', async () => {
  const pool = { canary: template('nginx:canary', { nodeSelector: { disk: 'ssd' } }) }
  await using world = await startShops({ templatePool: pool, templates: { beijing: 'canary' } })
  const found = await children(world, ['web-beijing', 'web-shanghai'])
  const beijing = found.get('web-beijing') ?? assert.fail('no child of beijing')
  assert.equal(imageOf(beijing), 'nginx:canary')
  assert.deepEqual(beijing.spec?.template.spec?.nodeSelector, { disk: 'ssd', zone1: 'beijing' })
  await world.patch(deploymentGrids, web, {
    spec: { templates: { beijing: 'canry' }, template: template('nginx:2') },
  })
  await world.eventually(resources.deployments, (all) =>
    all.some((each) => imageOf(each) === 'nginx:2') ? true : undefined,
  )
  const state = await world.eventually(deploymentGrids, ([each]) =>
    each?.status?.groups?.find(({ phase }) => phase === 'Refused'),
  )
  assert.deepEqual(
    [state.name, state.reason, state.message],
    [
      'beijing',
      'TemplateNotFound',
      'spec.templatePool has no template "canry" with a template of pods',
    ],
  )
})

test('units that cannot have a child are named with the reason, and the others go on', async () => {
  await using world = await startShops()
  await world.node('n4', { zone1: 'North.Hall_1' })
  await world.create(resources.deployments, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web-taken', namespace },
    spec: template('other:1'),
  })
  await world.node('n5', { zone1: 'taken' })
  await world.node('n6', { zone1: 'west' })
  const refused = await world.eventually(deploymentGrids, ([each]) => {
    const groups = each?.status?.groups ?? []
    return groups.length === 5 ? groups.filter(({ phase }) => phase === 'Refused') : undefined
  })
  assert.deepEqual(
    refused.map(({ name, reason }) => [name, reason]),
    [
      ['North.Hall_1', 'InvalidName'],
      ['taken', 'NameTaken'],
    ],
  )
  const taken = await world.cluster
    .resource(resources.deployments)
    .get({ name: 'web-taken', namespace }, world.signal)
  assert.equal(imageOf(taken), 'other:1')
  await children(world, ['web-beijing', 'web-shanghai', 'web-taken', 'web-west'])
})

test('an empty grid key is an event in SuperEdge’s words', async () => {
  await using world = await startShops({ gridUniqKey: '' })
  const event = await world.eventually(resources.events, (all) =>
    all.find(({ reason }) => reason === 'Empty'),
  )
  const { type, message, source } = event
  assert.deepEqual(
    { type, message, component: source?.component },
    {
      type: 'Warning',
      message: 'This deployment-grid has an empty grid key',
      component: 'deployment-grid-controller',
    },
  )
})

test('a changed selector is refused by the server, and the state of the unit says so', async () => {
  await using world = await startShops()
  await children(world, ['web-beijing', 'web-shanghai'])
  const labels = { app: 'web', tier: 'front' }
  const changed = { ...template('nginx:1.25'), selector: { matchLabels: labels } }
  changed.template.metadata.labels = labels
  await world.patch(deploymentGrids, web, { spec: { template: changed } })
  const state = await world.eventually(deploymentGrids, ([each]) =>
    each?.status?.groups?.find(({ phase }) => phase === 'Refused'),
  )
  assert.equal(state.reason, 'Invalid')
  assert.match(state.message ?? '', /field is immutable/)
})

test('unused templates leave the pool if the grid asks for it, but not while a name is unknown', async () => {
  const pool = { canary: template('a:1'), old: template('b:1') }
  await using world = await startShops({
    templatePool: pool,
    templates: { beijing: 'canry' },
    autoDeleteUnusedTemplate: true,
  })
  await children(world, ['web-shanghai'])
  await world.patch(deploymentGrids, web, { spec: { templates: { beijing: 'canary' } } })
  await world.eventually(deploymentGrids, ([each]) =>
    Object.keys(each?.spec?.templatePool ?? {}).join() === 'canary' ? true : undefined,
  )
  await children(world, ['web-beijing', 'web-shanghai'])
})

test('a StatefulSetGrid has a StatefulSet for each unit, with the service’s name of the template', async () => {
  await using world = await startShops()
  await world.create(statefulSetGrids, {
    apiVersion: 'superedge.io/v1',
    kind: 'StatefulSetGrid',
    metadata: { name: 'pg', namespace },
    spec: { gridUniqKey: 'zone1', template: { ...template('pg:1'), serviceName: 'pg-svc' } },
  })
  const sets = await world.eventually(resources.statefulSets, (all) =>
    all.length === 2 ? all : undefined,
  )
  assert.deepEqual(
    sets
      .map(({ metadata, spec }) => `${metadata.name} ${spec?.serviceName}`)
      .toSorted((a, z) => (a < z ? -1 : 1)),
    ['pg-beijing pg-svc', 'pg-shanghai pg-svc'],
  )
})

test('a ServiceGrid has one Service for all units, whose annotation keeps its traffic in each of them', async () => {
  await using world = await startShops()
  await world.create(serviceGrids, {
    apiVersion: 'superedge.io/v1',
    kind: 'ServiceGrid',
    metadata: { ...web, labels: { team: 'a' }, annotations: { note: 'hello' } },
    spec: {
      gridUniqKey: 'zone1',
      template: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 80 }] },
    },
  })
  const service = await world.eventually(resources.services, (all) =>
    all.find(({ metadata }) => metadata.name === 'web-svc'),
  )
  const { annotations = {}, labels, ownerReferences } = service.metadata
  assert.equal(annotations['topologyKeys'], '["zone1"]')
  assert.equal(annotations['note'], 'hello')
  assert.deepEqual(labels, {
    team: 'a',
    'superedge.io/grid-selector': 'web',
    'superedge.io/grid-uniq-key': 'zone1',
  })
  assert.equal(ownerReferences?.[0]?.kind, 'ServiceGrid')
  await world.patch(serviceGrids, web, {
    spec: { template: { ports: [{ port: 81, targetPort: 80 }] } },
  })
  const changed = await world.eventually(resources.services, (all) =>
    all.find(({ spec }) => spec?.ports?.[0]?.port === 81),
  )
  assert.equal(changed.spec?.clusterIP, service.spec?.clusterIP)
  assert.equal(changed.spec?.ports?.length, 1)
})
