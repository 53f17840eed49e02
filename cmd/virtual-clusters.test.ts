/** Groups of an edge cluster's nodes are clusters of their own on the hub, and Works reach them there. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isStatusError, type AnyObject, type KubeObject } from '@skerry/api'
import { linkedSignal } from '@skerry/base'
import {
  createCluster,
  resources,
  type Cluster as Api,
  type ObjectKey,
  type TypedResource,
} from '@skerry/client'
import { runControllers } from '@skerry/controllers'
import {
  allowVirtualClusters,
  clusterResource,
  executionNamespace,
  groupLabel,
  parentOf,
  virtualClusterResource,
  virtualClusterSetResource,
  workResource,
  type VirtualCluster,
} from '@skerry/karmada'
import {
  startTestAgent,
  startTestEdge,
  startTestHub,
  untilCluster,
  type TestHub,
} from './test-fleet.ts'

const signal = AbortSignal.timeout(120_000)

interface Scene extends AsyncDisposable {
  readonly fleet: TestHub
  readonly hub: Api
  readonly edge: Api
}

/** A hub, and an edge whose agent may have virtual clusters. */
async function startScene({ isAllowed = true } = {}): Promise<Scene> {
  await using stack = new AsyncDisposableStack()
  const fleet = stack.use(await startTestHub())
  const server = stack.use(await startTestEdge({ hasVirtualClusters: true }))
  const edge = createCluster(server.transport, { ...fleet.context, userAgent: 'test' })
  stack.use(runNamespaces(edge, fleet))
  await allowVirtualClusters(fleet.admin, { cluster: 'bank', isAllowed }, signal)
  const asked = { name: 'bank', api: server.api, hasVirtualClusters: true }
  stack.use(await startTestAgent(fleet, asked))
  await until(edge, resources.customResourceDefinitions, crdKey, (found) =>
    (found?.status?.conditions ?? []).some(
      ({ type, status }) => type === 'Established' && status === 'True',
    ),
  )
  const owned = stack.move()
  return {
    fleet,
    hub: fleet.admin,
    edge,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** Of the edge's controllers, the one that empties namespaces. */
function runNamespaces(cluster: Api, { context }: TestHub): AsyncDisposable {
  const { clock, random, log } = context
  const deps = { cluster, clock, random, log }
  const stop = linkedSignal(signal)
  const running = runControllers(['namespace-controller'], deps, stop.signal)
  const ended = running.catch((error: unknown) => {
    if (!stop.signal.aborted) throw error
  })
  return {
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('the test is over'))
      await ended
    },
  }
}

const crdKey = { name: 'virtualclustersets.edge.skerry.io' }

/** Until the object is as wanted; undefined stands for one that is not there. */
async function until<T extends KubeObject>(
  api: Api,
  resource: TypedResource<T>,
  key: ObjectKey,
  isWanted: (object: T | undefined) => boolean,
): Promise<T | undefined> {
  const request = { fieldSelector: `metadata.name=${key.name}`, namespace: key.namespace ?? '' }
  const { items, metadata } = await api.resource(resource).list(request, signal)
  if (isWanted(items[0])) return items[0]
  const watched = { ...request, resourceVersion: metadata.resourceVersion ?? '' }
  for await (const event of api.resource(resource).watch(watched, signal)) {
    if (event.type === 'BOOKMARK') continue
    const found = event.type === 'DELETED' ? undefined : event.object
    if (isWanted(found)) return found
  }
  throw new Error(`Cannot wait for ${key.name}: the watch has ended`)
}

async function addNode(edge: Api, name: string, labels: Record<string, string>): Promise<void> {
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name, labels } }
  const made = await edge.resource(resources.nodes).create(node, signal)
  const status = {
    allocatable: { cpu: '4', memory: '8Gi', pods: '110' },
    conditions: [{ type: 'Ready', status: 'True' }],
  }
  await edge.resource(resources.nodes).updateStatus({ ...made, status }, signal)
}

async function branches(edge: Api): Promise<void> {
  const set = {
    apiVersion: 'edge.skerry.io/v1alpha1',
    kind: 'VirtualClusterSet',
    metadata: { name: 'branches' },
    spec: { source: { label: { key: 'branch' } }, template: { provider: 'branches' } },
  }
  await edge.resource(virtualClusterSetResource).create(set, signal)
}

function virtualCluster(name: string, spec: VirtualCluster['spec']): VirtualCluster {
  return {
    apiVersion: 'edge.skerry.io/v1alpha1',
    kind: 'VirtualCluster',
    metadata: { name },
    spec,
  }
}

function work(name: string, ...manifests: AnyObject[]) {
  return {
    apiVersion: 'work.karmada.io/v1alpha1',
    kind: 'Work',
    metadata: { name: 'till', namespace: executionNamespace(name) },
    spec: { workload: { manifests } },
  }
}

const till: AnyObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'till', namespace: 'shop' },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'till' } },
    template: {
      metadata: { labels: { app: 'till' } },
      spec: { containers: [{ name: 'till', image: 'till' }] },
    },
  },
}

test('each branch is a cluster on the hub, and what is sent there runs on its nodes', async () => {
  await using scene = await startScene()
  const { fleet, hub, edge } = scene
  await addNode(edge, 'n1', { branch: 'east' })
  await addNode(edge, 'n2', { branch: 'east' })
  await addNode(edge, 'n3', { branch: 'west' })
  await branches(edge)
  for (const name of ['bank-east', 'bank-west']) {
    await untilCluster(fleet, name, ({ Ready }) => Ready === 'True')
  }
  const east = await until(
    hub,
    clusterResource,
    { name: 'bank-east' },
    (found) => found?.status?.nodeSummary?.totalNum === 2,
  )
  assert.ok(east)
  assert.equal(parentOf(east), 'bank')
  assert.equal(east.spec.provider, 'branches')
  assert.equal(east.status?.resourceSummary?.allocatable?.['cpu'], '8')
  assert.deepEqual(
    east.status?.resourceSummary?.allocatableModelings?.find(({ count }) => count > 0),
    { grade: 1, count: 2 },
  )
  // A new branch comes by itself.
  await addNode(edge, 'n4', { branch: 'north' })
  await untilCluster(fleet, 'bank-north', ({ Ready }) => Ready === 'True')
  for (const name of ['bank-east', 'bank-west']) {
    await hub.resource(workResource).create(work(name, till), signal)
  }
  for (const name of ['bank-east', 'bank-west']) {
    const namespace = `shop-${name}`
    const made = await until(edge, resources.deployments, { namespace, name: 'till' }, Boolean)
    assert.equal(made?.spec?.template?.spec?.nodeSelector?.[groupLabel], name)
    await until(hub, workResource, { namespace: executionNamespace(name), name: 'till' }, (found) =>
      (found?.status?.conditions ?? []).some(
        ({ type, status }) => type === 'Applied' && status === 'True',
      ),
    )
  }
  // The branch is closed.
  await edge.resource(resources.nodes).delete({ name: 'n3' }, signal)
  await until(hub, clusterResource, { name: 'bank-west' }, (found) => found === undefined)
  await until(edge, virtualClusterResource, { name: 'west' }, (found) => found === undefined)
  const left = await edge.resource(resources.namespaces).list({}, signal)
  assert.deepEqual(
    left.items.map(({ metadata }) => metadata.name).filter((name) => name?.endsWith('west')),
    [],
  )
})

test('an agent that the hub does not allow them registers no virtual clusters', async () => {
  await using scene = await startScene({ isAllowed: false })
  const { hub, edge } = scene
  const asked = virtualCluster('east', { nodeNames: ['n1'] })
  await edge.resource(virtualClusterResource).create(asked, signal)
  const told = await until(edge, virtualClusterResource, { name: 'east' }, (found) =>
    (found?.status?.conditions ?? []).some(({ message }) => message.includes('bank-east')),
  )
  assert.match(told?.status?.conditions?.[0]?.message ?? '', /join-command .*--virtual-clusters/)
  await assert.rejects(hub.resource(clusterResource).get({ name: 'bank-east' }, signal), (error) =>
    isStatusError(error, 'NotFound'),
  )
})
