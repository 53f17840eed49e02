/** Groups of an edge cluster's nodes are clusters on the hub, and Works reach them there. */
import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { isStatusError } from '@skerry/api'
import { resources, type ClusterClient } from '@skerry/client'
import {
  clusterResource,
  executionNamespace,
  groupLabel,
  parentOf,
  virtualClusterResource,
  virtualClusterSetResource,
} from '@skerry/fleet-kinds'
import { workResource } from '@skerry/karmada-kinds'
import { untilObject } from '@skerry/testing'
import { untilCluster } from '../../testing/scenes/test-fleet.ts'
import {
  addNode,
  startVirtualScene,
  till,
  virtualCluster,
  workFor,
} from '../../testing/scenes/virtual-scene.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)

async function branches(edge: ClusterClient): Promise<void> {
  const set = {
    apiVersion: 'edge.skerry.io/v1alpha1',
    kind: 'VirtualClusterSet',
    metadata: { name: 'branches' },
    spec: {
      source: { label: { key: 'branch' } },
      template: { provider: 'branches' },
      gracePeriodSeconds: 0,
    },
  }
  await edge.resource(virtualClusterSetResource).create(set, soon())
}

test('each branch is a cluster on the hub, and objects sent there run on its nodes', async () => {
  await using scene = await startVirtualScene({}, soon())
  const { fleet, hub, edge } = scene
  await addNode(edge, 'n1', { branch: 'east' }, soon())
  await addNode(edge, 'n2', { branch: 'east' }, soon())
  await addNode(edge, 'n3', { branch: 'west' }, soon())
  await branches(edge)
  for (const name of ['bank-east', 'bank-west']) {
    await untilCluster(fleet, name, ({ Ready }) => Ready === 'True')
  }
  const east = await untilObject(
    hub,
    { resource: clusterResource, key: { name: 'bank-east' } },
    (found) => found?.status?.nodeSummary?.totalNum === 2,
    soon(),
  )
  assert.ok(east)
  assert.equal(parentOf(east), 'bank')
  assert.equal(east.spec.provider, 'branches')
  assert.equal(east.status?.resourceSummary?.allocatable?.['cpu'], '8')
  assert.deepEqual(
    east.status?.resourceSummary?.allocatableModelings?.find(({ count }) => count > 0),
    { grade: 1, count: 2 },
  )
  // A new branch registers itself.
  await addNode(edge, 'n4', { branch: 'north' }, soon())
  await untilCluster(fleet, 'bank-north', ({ Ready }) => Ready === 'True')
  for (const name of ['bank-east', 'bank-west']) {
    await hub.resource(workResource).create(workFor(name, till), soon())
  }
  for (const name of ['bank-east', 'bank-west']) {
    const namespace = `shop-${name}`
    const made = await untilObject(
      edge,
      { resource: resources.deployments, key: { namespace, name: 'till' } },
      Boolean,
      soon(),
    )
    assert.equal(made?.spec?.template?.spec?.nodeSelector?.[groupLabel], name)
    await untilObject(
      hub,
      { resource: workResource, key: { namespace: executionNamespace(name), name: 'till' } },
      (found) =>
        (found?.status?.conditions ?? []).some(
          ({ type, status }) => type === 'Applied' && status === 'True',
        ),
      soon(),
    )
  }
  // A pod that selects another branch's nodes would wait forever.
  const astray = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'astray', namespace: 'shop' },
    spec: { containers: [{ name: 'a', image: 'a' }], nodeSelector: { branch: 'west' } },
  }
  const work = workFor('bank-east', astray)
  const place = { ...work.metadata, name: 'astray' }
  await hub.resource(workResource).create({ ...work, metadata: place }, soon())
  const told = await untilObject(
    hub,
    { resource: workResource, key: place },
    (found) => (found?.status?.conditions ?? []).some(({ type }) => type === 'Applied'),
    soon(),
  )
  const applied = told?.status?.conditions?.find(({ type }) => type === 'Applied')
  assert.equal(applied?.status, 'False')
  assert.match(applied.message, /"shop\/astray" .* selects nodes with branch: "west"/)
  // The branch is closed.
  await edge.resource(resources.nodes).delete({ name: 'n3' }, soon())
  await untilObject(
    hub,
    { resource: clusterResource, key: { name: 'bank-west' } },
    (found) => found === undefined,
    soon(),
  )
  await untilObject(
    edge,
    { resource: virtualClusterResource, key: { name: 'west' } },
    (found) => found === undefined,
    soon(),
  )
  // Its identity at the hub is deleted with it.
  const identities = await readdir(join(fleet.directory, 'agent-bank', 'clusters'))
  assert.deepEqual(identities.toSorted(), ['bank-east', 'bank-north'])
  const left = await edge.resource(resources.namespaces).list({}, soon())
  assert.deepEqual(
    left.items.map(({ metadata }) => metadata.name).filter((name) => name?.endsWith('west')),
    [],
  )
})

test('an agent that the hub does not allow them registers no virtual clusters', async () => {
  await using scene = await startVirtualScene({ isAllowed: false }, soon())
  const { hub, edge } = scene
  const asked = virtualCluster('east', { nodeNames: ['n1'] })
  await edge.resource(virtualClusterResource).create(asked, soon())
  const told = await untilObject(
    edge,
    { resource: virtualClusterResource, key: { name: 'east' } },
    (found) =>
      (found?.status?.conditions ?? []).some(({ message }) => message.includes('bank-east')),
    soon(),
  )
  assert.match(told?.status?.conditions?.[0]?.message ?? '', /join-command .*--virtual-clusters/)
  await assert.rejects(hub.resource(clusterResource).get({ name: 'bank-east' }, soon()), (error) =>
    isStatusError(error, 'NotFound'),
  )
})
