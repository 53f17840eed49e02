/** An agent has rights at its hub for its own virtual clusters, and for nobody else's. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isStatusError, type ConfigMap } from '@skerry/api'
import { createCluster, resources, type ClusterClient } from '@skerry/client'
import {
  agentUserName,
  agentsGroup,
  clusterNamespace,
  clusterResource,
  executionNamespace,
  parentOf,
  registrationResource,
  virtualAgentGroup,
  virtualOfKey,
  type Cluster,
} from '@skerry/fleet-kinds'
import { workResource } from '@skerry/karmada-kinds'
import { allowVirtualClusters } from '@skerry/membership'
import { untilObject } from '@skerry/testing'
import { registerCluster, startTestHub, type TestHub } from '../../testing/scenes/test-fleet.ts'
import { till, workFor } from '../../testing/scenes/virtual-scene.ts'

const soon = (): AbortSignal => AbortSignal.timeout(60_000)

function cluster(name: string, labels: Record<string, string> = {}): Cluster {
  return {
    apiVersion: 'cluster.karmada.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name, labels },
    spec: { syncMode: 'Pull', id: name },
  }
}

async function agentOf(
  fleet: TestHub,
  name: string,
  stack: DisposableStack,
): Promise<ClusterClient> {
  const subject = { commonName: agentUserName(name), organizations: [agentsGroup] }
  const transport = stack.use(await fleet.as(subject))
  return createCluster(transport, { ...fleet.context, userAgent: 'test' })
}

/** A virtual cluster by its own identity. */
async function virtualOf(
  fleet: TestHub,
  { cluster: name, parent }: { cluster: string; parent: string },
  stack: DisposableStack,
): Promise<ClusterClient> {
  const subject = { commonName: agentUserName(name), organizations: [virtualAgentGroup(parent)] }
  const transport = stack.use(await fleet.as(subject))
  return createCluster(transport, { ...fleet.context, userAgent: 'test' })
}

function refused(asked: Promise<unknown>): Promise<void> {
  return assert.rejects(asked, (error) => isStatusError(error, 'Forbidden'))
}

function apply(agent: ClusterClient, object: Cluster): Promise<Cluster> {
  const { name = '' } = object.metadata
  const request = { name, type: 'apply', patch: object, fieldManager: 'test', force: true } as const
  return agent.resource(clusterResource).patch(request, soon())
}

test('an agent registers virtual clusters under its own name where the hub allows them', async () => {
  await using fleet = await startTestHub()
  using stack = new DisposableStack()
  const bank = await agentOf(fleet, 'bank', stack)
  const other = await agentOf(fleet, 'other', stack)
  await refused(apply(bank, cluster('bank-east')))
  await allowVirtualClusters(fleet.admin, { cluster: 'bank', isAllowed: true }, soon())
  // The hub decides the owner; the virtual cluster's objects are its own, and not its parent's.
  const made = await apply(bank, cluster('bank-east'))
  assert.equal(parentOf(made), 'bank')
  const east = await virtualOf(fleet, { cluster: 'bank-east', parent: 'bank' }, stack)
  assert.equal(parentOf(await apply(east, cluster('bank-east', { [virtualOfKey]: 'x' }))), 'bank')
  await refused(apply(bank, cluster('bank-east')))
  assert.equal(
    parentOf(await apply(other, cluster('other', { [virtualOfKey]: 'bank' }))),
    undefined,
  )
  await registerCluster(fleet, 'bank-own', { [virtualOfKey]: 'bank' })
  const labels = { metadata: { labels: { [virtualOfKey]: 'bank' } } }
  const patch = { name: 'bank-own', type: 'merge', patch: labels } as const
  const claimed = await fleet.admin.resource(clusterResource).patch(patch, soon())
  assert.equal(parentOf(claimed), undefined, 'not even an administrator gives a cluster away')
  await refused(apply(bank, cluster('bank-own')))
  await refused(apply(bank, cluster('shop')))
  await refused(apply(other, cluster('bank-west')))
  await refused(other.resource(clusterResource).get({ name: 'bank-east' }, soon()))
})

test('an agent follows its virtual clusters, and touches nothing of theirs', async () => {
  await using fleet = await startTestHub()
  using stack = new DisposableStack()
  const bank = await agentOf(fleet, 'bank', stack)
  const other = await agentOf(fleet, 'other', stack)
  await allowVirtualClusters(fleet.admin, { cluster: 'bank', isAllowed: true }, soon())
  await apply(bank, cluster('bank-east'))
  const namespace = executionNamespace('bank-east')
  const labelSelector = `${virtualOfKey}=bank`
  const { items } = await bank.resource(clusterResource).list({ labelSelector }, soon())
  assert.deepEqual(
    items.map(({ metadata }) => metadata.name),
    ['bank-east'],
  )
  // One watch covers the Works of all of them.
  await untilNamespace(fleet.admin, namespace)
  await fleet.admin.resource(workResource).create(workFor('bank-east', till), soon())
  const works = await bank.resource(workResource).list({ labelSelector }, soon())
  assert.deepEqual(
    works.items.map(({ metadata }) => metadata.namespace),
    [namespace],
  )
  await refused(other.resource(workResource).list({ labelSelector }, soon()))
  await refused(other.resource(clusterResource).list({ labelSelector }, soon()))
  await refused(bank.resource(workResource).list({}, soon()))
  await refused(bank.resource(clusterResource).list({}, soon()))
  for (const agent of [bank, other]) await refusedAll(agent, 'bank-east')
})

test('a virtual cluster keeps its own objects, and reaches nothing of a sibling or its parent', async () => {
  await using fleet = await startTestHub()
  using stack = new DisposableStack()
  const bank = await agentOf(fleet, 'bank', stack)
  await allowVirtualClusters(fleet.admin, { cluster: 'bank', isAllowed: true }, soon())
  for (const name of ['bank', 'bank-east', 'bank-west']) await apply(bank, cluster(name))
  for (const name of ['bank', 'bank-east', 'bank-west']) {
    await untilNamespace(fleet.admin, executionNamespace(name))
    await fleet.admin.resource(workResource).create(workFor(name, till), soon())
  }
  const east = await virtualOf(fleet, { cluster: 'bank-east', parent: 'bank' }, stack)
  const clusters = east.resource(clusterResource)
  const works = east.resource(workResource)
  await east.resource(resources.leases).create(leaseOf('bank-east'), soon())
  const own = { namespace: executionNamespace('bank-east'), name: 'till' }
  const finalizers = { metadata: { finalizers: ['karmada.io/execution-controller'] } }
  await works.patch({ ...own, type: 'merge', patch: finalizers }, soon())
  await works.patchStatus({ ...own, type: 'merge', patch: { status: {} } }, soon())
  for (const name of ['bank', 'bank-west']) await refusedAll(east, name)
  await refused(clusters.list({}, soon()))
  await refused(clusters.list({ labelSelector: `${virtualOfKey}=bank` }, soon()))
  await refused(works.list({}, soon()))
  await refused(apply(east, cluster('bank-north')))
  await refused(apply(east, cluster('bank-east-inner')))
  const secrets = east.resource(resources.secrets)
  for (const name of ['bank', 'bank-east', 'bank-west']) {
    await refused(secrets.get({ namespace: clusterNamespace, name }, soon()))
    await refused(secrets.list({ namespace: executionNamespace(name) }, soon()))
  }
  // A certificate that names another parent, or a cluster that is not virtual, grants nothing.
  const stranger = await virtualOf(fleet, { cluster: 'bank-east', parent: 'other' }, stack)
  await refusedAll(stranger, 'bank-east')
  await refusedAll(await virtualOf(fleet, { cluster: 'bank', parent: 'bank' }, stack), 'bank')
  // Neither may a whole cluster of this name, as with a token from when it was free.
  await refusedAll(await agentOf(fleet, 'bank-east', stack), 'bank-east')
  await allowVirtualClusters(fleet.admin, { cluster: 'bank', isAllowed: false }, soon())
  await refusedAll(east, 'bank-east')
  await allowVirtualClusters(fleet.admin, { cluster: 'bank', isAllowed: true }, soon())
  await clusters.delete({ name: 'bank-east' }, soon())
})

/** Checks that this asker is refused everything of this cluster. */
async function refusedAll(asker: ClusterClient, name: string): Promise<void> {
  const namespace = executionNamespace(name)
  const clusters = asker.resource(clusterResource)
  const works = asker.resource(workResource)
  const merge = { type: 'merge', patch: { metadata: { labels: { a: 'b' } } } } as const
  const till = { namespace, name: 'till' }
  const lease = { namespace: clusterNamespace, name }
  await refused(clusters.get({ name }, soon()))
  await refused(clusters.patch({ name, ...merge }, soon()))
  await refused(clusters.patchStatus({ name, ...merge }, soon()))
  await refused(clusters.delete({ name }, soon()))
  await refused(asker.resource(resources.leases).create(leaseOf(name), soon()))
  await refused(asker.resource(resources.leases).patch({ ...lease, ...merge }, soon()))
  await refused(works.list({ namespace }, soon()))
  await refused(works.get(till, soon()))
  await refused(works.patch({ ...till, ...merge }, soon()))
  await refused(works.patchStatus({ ...till, ...merge }, soon()))
  await refused(works.delete(till, soon()))
}

async function untilNamespace(api: ClusterClient, name: string): Promise<void> {
  const key = { resource: resources.namespaces, key: { name } }
  await untilObject(api, key, Boolean, soon())
}

function leaseOf(name: string) {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace: clusterNamespace, name },
  }
}

test('a registration says whether its agent may have virtual clusters, and takes no name of one', async () => {
  await using fleet = await startTestHub()
  using stack = new DisposableStack()
  const ask = (clusterName: string, virtualClusters: boolean) =>
    fleet.admin.resource(registrationResource).create(
      {
        apiVersion: 'hub.skerry.io/v1alpha1',
        kind: 'ClusterRegistration',
        metadata: {},
        spec: { clusterName, virtualClusters },
      },
      soon(),
    )
  const { status } = await ask('bank', true)
  assert.match(status?.command ?? '', / --virtual-clusters$/)
  assert.match(status?.manifest ?? '', /- --virtual-clusters\n/)
  const bank = await agentOf(fleet, 'bank', stack)
  await apply(bank, cluster('bank-east'))
  await assert.rejects(ask('bank-east', false), (error) => isStatusError(error, 'Conflict'))
  await ask('bank', false)
  await refused(apply(bank, cluster('bank-west')))
  const allowed = await fleet.admin
    .resource(resources.configMaps)
    .get({ namespace: clusterNamespace, name: 'virtual-parents' }, soon())
  assert.deepEqual((allowed satisfies ConfigMap).data ?? {}, {})
})

test('a cluster that is deleted from the hub takes its virtual clusters with it', async () => {
  await using fleet = await startTestHub()
  using stack = new DisposableStack()
  const bank = await agentOf(fleet, 'bank', stack)
  await allowVirtualClusters(fleet.admin, { cluster: 'bank', isAllowed: true }, soon())
  const clusters = fleet.admin.resource(clusterResource)
  const { metadata } = await clusters.list({}, soon())
  for (const name of ['bank', 'bank-east']) await apply(bank, cluster(name))
  const left = new Set(['bank', 'bank-east'])
  let isDeleted = false
  const request = { resourceVersion: metadata.resourceVersion ?? '' }
  for await (const event of clusters.watch(request, soon())) {
    if (event.type === 'BOOKMARK') continue
    const { name = '', finalizers = [], deletionTimestamp } = event.object.metadata
    const isTakenIn = finalizers.length > 0 && deletionTimestamp === undefined
    if (name === 'bank' && isTakenIn && !isDeleted) {
      isDeleted = true
      await clusters.delete({ name }, soon())
    }
    if (event.type === 'DELETED') left.delete(name)
    if (left.size === 0) break
  }
})
