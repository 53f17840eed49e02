import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node, Pod } from '@skerry/api'
import { ExpectedError, silentLogger, simulatedClock, systemClock } from '@skerry/base'
import { createCluster, ifThere, resources, type ClusterClient } from '@skerry/client'
import { startTestApiServer } from '@skerry/testing'
import { admitNode } from './admit-node.ts'
import { deleteNode } from './delete-node.ts'
import { drainNode } from './drain-node.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)
const namespace = 'default'

interface Scene extends AsyncDisposable {
  readonly cluster: ClusterClient
  readonly lines: string[]
  readonly drain: (timeoutMs?: number) => Promise<void>
}

async function start(): Promise<Scene> {
  const server = await startTestApiServer({ withAccess: true })
  const deps = { clock: systemClock, log: silentLogger, userAgent: 'test' }
  const cluster = createCluster(server.transport, deps)
  const node: Node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'shop' },
    status: { conditions: [{ type: 'Ready', status: 'True', reason: 'x', message: 'x' }] },
  }
  const nodes = cluster.resource(resources.nodes)
  await nodes.create(node, soon())
  await nodes.patchStatus({ name: 'shop', type: 'merge', patch: { status: node.status } }, soon())
  const account = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { namespace, name: 'default' },
  }
  await cluster.resource(resources.serviceAccounts).create(account, soon())
  const lines: string[] = []
  const drain = async (timeoutMs = 120_000): Promise<void> => {
    const time = simulatedClock()
    // Each wait takes no real time, and requests take none of the clock's.
    const clock = {
      ...time,
      async sleep(ms: number) {
        await endPods(cluster)
        await time.advance(ms)
      },
    }
    const print = (line: string): void => void lines.push(line)
    await drainNode({ name: 'shop', timeoutMs }, { cluster, clock, print }, soon())
  }
  return { cluster, lines, drain, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

/** Does what a kubelet does: pods that were deleted end. Those with a finalizer stay. */
async function endPods(cluster: ClusterClient): Promise<void> {
  const pods = cluster.resource(resources.pods)
  const { items } = await pods.list({ namespace }, soon())
  for (const { metadata } of items) {
    if (metadata.deletionTimestamp === undefined) continue
    await pods.delete({ namespace, name: metadata.name ?? '', gracePeriodSeconds: 0 }, soon())
  }
}

/** Makes a pod that runs on the node. */
async function makePod(
  { cluster }: Scene,
  name: string,
  more: Partial<Pod['metadata']> = {},
): Promise<void> {
  const pods = cluster.resource(resources.pods)
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name, labels: { app: name }, ...more },
    spec: {
      nodeName: 'shop',
      automountServiceAccountToken: false,
      containers: [{ name: 'a', image: 'a' }],
    },
  }
  await pods.create(pod, soon())
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }
  await pods.patchStatus({ namespace, name, type: 'merge', patch: { status } }, soon())
}

const podNames = async ({ cluster }: Scene): Promise<string[]> => {
  const { items } = await cluster.resource(resources.pods).list({ namespace }, soon())
  return items.map(({ metadata: { name = '' } }) => name).toSorted()
}

const owner = (kind: string) => ({
  ownerReferences: [{ apiVersion: 'apps/v1', kind, name: 'x', uid: 'x', controller: true }],
})

test('pods leave a node, but for those of DaemonSets and of files; the node gets no others', async () => {
  await using scene = await start()
  await makePod(scene, 'alone')
  await makePod(scene, 'replica', owner('ReplicaSet'))
  await makePod(scene, 'daemon', owner('DaemonSet'))
  await makePod(scene, 'mirror', { annotations: { 'kubernetes.io/config.mirror': 'x' } })
  await scene.drain()
  assert.deepEqual(await podNames(scene), ['daemon', 'mirror'])
  const nodes = scene.cluster.resource(resources.nodes)
  assert.equal((await nodes.get({ name: 'shop' }, soon())).spec?.unschedulable, true)
  assert.ok(scene.lines.includes('evicted pod default/alone'))
})

async function setBudget({ cluster }: Scene, disruptionsAllowed: number): Promise<void> {
  const budgets = cluster.resource(resources.podDisruptionBudgets)
  const key = { namespace, name: 'web-budget' }
  const spec = { minAvailable: 1, selector: { matchLabels: { app: 'web' } } }
  const made = await ifThere(budgets.get(key, soon()))
  const found =
    made ??
    (await budgets.create(
      { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: key, spec },
      soon(),
    ))
  const { generation: observedGeneration = 1 } = found.metadata
  const counts = { currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 }
  const status = { observedGeneration, disruptionsAllowed, ...counts }
  await budgets.patchStatus({ ...key, type: 'merge', patch: { status } }, soon())
}

test('a budget that allows nothing keeps its pod, and the error names both; others have left', async () => {
  await using scene = await start()
  await makePod(scene, 'web')
  await makePod(scene, 'alone')
  await setBudget(scene, 0)
  await assert.rejects(scene.drain(), (error) => {
    assert.ok(error instanceof ExpectedError)
    assert.match(
      error.message,
      /^Cannot drain node shop: pod default\/web may not be evicted: The disruption budget web-budget needs 1 healthy pods and has 1 currently$/,
    )
    return true
  })
  assert.deepEqual(await podNames(scene), ['web'])
  await setBudget(scene, 1)
  await scene.drain()
  assert.deepEqual(await podNames(scene), [])
})

test('a pod that does not end is named when the time is up, and never forced', async () => {
  await using scene = await start()
  await makePod(scene, 'slow', { finalizers: ['example.com/wait'] })
  await assert.rejects(
    scene.drain(5_000),
    /pod default\/slow has not ended yet \(its grace is 30 s\)$/,
  )
  assert.deepEqual(await podNames(scene), ['slow'])
})

test('the error names a node that does not answer, because its pods cannot end', async () => {
  await using scene = await start()
  await makePod(scene, 'slow', { finalizers: ['example.com/wait'] })
  const conditions = [{ type: 'Ready', status: 'Unknown', reason: 'x', message: 'x' }]
  const patch = { status: { conditions } }
  await scene.cluster
    .resource(resources.nodes)
    .patchStatus({ name: 'shop', type: 'merge', patch }, soon())
  await assert.rejects(scene.drain(5_000), /does not answer: if its machine will never come back/)
})

test('a node that is gone needs no draining and no deletion', async () => {
  await using scene = await start()
  const { cluster, lines } = scene
  const print = (line: string): void => void lines.push(line)
  await deleteNode(cluster, { name: 'shop', hasPods: false }, print, soon())
  await scene.drain()
  await deleteNode(cluster, { name: 'shop', hasPods: true }, print, soon())
  assert.deepEqual(lines, [
    'removed node shop',
    'the site has no node shop',
    'the site has no node shop',
  ])
})

test('a dead node goes with all of its pods, whatever their budgets say', async () => {
  await using scene = await start()
  const { cluster, lines } = scene
  await makePod(scene, 'web')
  await makePod(scene, 'daemon', owner('DaemonSet'))
  await setBudget(scene, 0)
  await deleteNode(
    cluster,
    { name: 'shop', hasPods: true },
    (line) => void lines.push(line),
    soon(),
  )
  assert.deepEqual(await podNames(scene), [])
  assert.equal(lines.at(-1), 'removed node shop')
})

test('a node that stays gets labels of a master and further pods', async () => {
  await using scene = await start()
  const { cluster } = scene
  const nodes = cluster.resource(resources.nodes)
  await scene.drain()
  const labels = { 'node-role.kubernetes.io/control-plane': '' }
  await admitNode(cluster, { name: 'shop', labels, isUncordoned: true }, soon())
  const { metadata, spec } = await nodes.get({ name: 'shop' }, soon())
  assert.equal(metadata.labels?.['node-role.kubernetes.io/control-plane'], '')
  assert.equal(spec?.unschedulable, undefined)
  const none = admitNode(cluster, { name: 'none', labels, isUncordoned: false }, soon())
  await assert.rejects(none, /the site has none/)
})
