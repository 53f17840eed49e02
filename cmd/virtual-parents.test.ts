/** What an agent may do at its hub for the virtual clusters that it has, and for nobody else's. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isStatusError, type ConfigMap } from '@skerry/api'
import { createCluster, resources, type Cluster as Api } from '@skerry/client'
import {
  agentUserName,
  agentsGroup,
  allowVirtualClusters,
  clusterNamespace,
  clusterResource,
  executionNamespace,
  parentOf,
  registrationResource,
  virtualOfKey,
  workResource,
  type Cluster,
} from '@skerry/karmada'
import { till, untilObject, workFor } from './virtual-scene.ts'
import { registerCluster, startTestHub, type TestHub } from './test-fleet.ts'

const signal = AbortSignal.timeout(60_000)

function cluster(name: string, labels: Record<string, string> = {}): Cluster {
  return {
    apiVersion: 'cluster.karmada.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name, labels },
    spec: { syncMode: 'Pull', id: name },
  }
}

async function agentOf(fleet: TestHub, name: string, stack: DisposableStack): Promise<Api> {
  const subject = { commonName: agentUserName(name), organizations: [agentsGroup] }
  const transport = stack.use(await fleet.as(subject))
  return createCluster(transport, { ...fleet.context, userAgent: 'test' })
}

function refused(asked: Promise<unknown>): Promise<void> {
  return assert.rejects(asked, (error) => isStatusError(error, 'Forbidden'))
}

function apply(agent: Api, object: Cluster): Promise<Cluster> {
  const { name = '' } = object.metadata
  const request = { name, type: 'apply', patch: object, fieldManager: 'test', force: true } as const
  return agent.resource(clusterResource).patch(request, signal)
}

test('an agent registers virtual clusters under its own name where the hub allows them', async () => {
  await using fleet = await startTestHub()
  using stack = new DisposableStack()
  const bank = await agentOf(fleet, 'bank', stack)
  const other = await agentOf(fleet, 'other', stack)
  await refused(apply(bank, cluster('bank-east')))
  await allowVirtualClusters(fleet.admin, { cluster: 'bank', isAllowed: true }, signal)
  // Whose it is, is for the hub to say.
  const made = await apply(bank, cluster('bank-east'))
  assert.equal(parentOf(made), 'bank')
  assert.equal(parentOf(await apply(bank, cluster('bank-east', { [virtualOfKey]: 'x' }))), 'bank')
  assert.equal(
    parentOf(await apply(other, cluster('other', { [virtualOfKey]: 'bank' }))),
    undefined,
  )
  await registerCluster(fleet, 'bank-own', { [virtualOfKey]: 'bank' })
  const labels = { metadata: { labels: { [virtualOfKey]: 'bank' } } }
  const patch = { name: 'bank-own', type: 'merge', patch: labels } as const
  const claimed = await fleet.admin.resource(clusterResource).patch(patch, signal)
  assert.equal(parentOf(claimed), undefined, 'not even an administrator gives a cluster away')
  await refused(apply(bank, cluster('bank-own')))
  await refused(apply(bank, cluster('shop')))
  await refused(apply(other, cluster('bank-west')))
  await refused(other.resource(clusterResource).get({ name: 'bank-east' }, signal))
})

test('an agent acts for its virtual clusters as for itself, until the hub allows it no more', async () => {
  await using fleet = await startTestHub()
  using stack = new DisposableStack()
  const bank = await agentOf(fleet, 'bank', stack)
  const other = await agentOf(fleet, 'other', stack)
  await allowVirtualClusters(fleet.admin, { cluster: 'bank', isAllowed: true }, signal)
  await apply(bank, cluster('bank-east'))
  const namespace = executionNamespace('bank-east')
  const lease = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace: clusterNamespace, name: 'bank-east' },
  }
  await bank.resource(resources.leases).create(lease, signal)
  await bank.resource(workResource).list({ namespace }, signal)
  const labelSelector = `${virtualOfKey}=bank`
  const { items } = await bank.resource(clusterResource).list({ labelSelector }, signal)
  assert.deepEqual(
    items.map(({ metadata }) => metadata.name),
    ['bank-east'],
  )
  // By one watch it follows the Works of all of them.
  await untilNamespace(fleet.admin, namespace)
  await fleet.admin.resource(workResource).create(workFor('bank-east', till), signal)
  const works = await bank.resource(workResource).list({ labelSelector }, signal)
  assert.deepEqual(
    works.items.map(({ metadata }) => metadata.namespace),
    [namespace],
  )
  await refused(bank.resource(workResource).list({}, signal))
  await refused(other.resource(workResource).list({ labelSelector }, signal))
  await refused(other.resource(workResource).list({ namespace }, signal))
  await refused(other.resource(clusterResource).list({ labelSelector }, signal))
  await refused(bank.resource(clusterResource).list({}, signal))
  await refused(bank.resource(resources.leases).create(leaseOf('bank-west'), signal))
  await allowVirtualClusters(fleet.admin, { cluster: 'bank', isAllowed: false }, signal)
  await refused(bank.resource(workResource).list({ namespace }, signal))
  await refused(bank.resource(clusterResource).delete({ name: 'bank-east' }, signal))
  await allowVirtualClusters(fleet.admin, { cluster: 'bank', isAllowed: true }, signal)
  await bank.resource(clusterResource).delete({ name: 'bank-east' }, signal)
})

async function untilNamespace(api: Api, name: string): Promise<void> {
  const key = { resource: resources.namespaces, key: { name } }
  await untilObject(api, key, Boolean, signal)
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
      signal,
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
    .get({ namespace: clusterNamespace, name: 'virtual-parents' }, signal)
  assert.deepEqual((allowed satisfies ConfigMap).data ?? {}, {})
})

test('with a cluster that is deleted from the hub go its virtual clusters', async () => {
  await using fleet = await startTestHub()
  using stack = new DisposableStack()
  const bank = await agentOf(fleet, 'bank', stack)
  await allowVirtualClusters(fleet.admin, { cluster: 'bank', isAllowed: true }, signal)
  const clusters = fleet.admin.resource(clusterResource)
  const { metadata } = await clusters.list({}, signal)
  for (const name of ['bank', 'bank-east']) await apply(bank, cluster(name))
  const left = new Set(['bank', 'bank-east'])
  let isDeleted = false
  const request = { resourceVersion: metadata.resourceVersion ?? '' }
  for await (const event of clusters.watch(request, signal)) {
    if (event.type === 'BOOKMARK') continue
    const { name = '', finalizers = [], deletionTimestamp } = event.object.metadata
    const isTakenIn = finalizers.length > 0 && deletionTimestamp === undefined
    if (name === 'bank' && isTakenIn && !isDeleted) {
      isDeleted = true
      await clusters.delete({ name }, signal)
    }
    if (event.type === 'DELETED') left.delete(name)
    if (left.size === 0) break
  }
})
