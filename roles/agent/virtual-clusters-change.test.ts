/** Virtual clusters follow their operator's changes to nodes and groups, even while their agent is offline. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Pod } from '@skerry/api'
import { resources, type ClusterClient } from '@skerry/client'
import {
  clusterResource,
  executionNamespace,
  groupLabel,
  virtualClusterResource,
  type VirtualCluster,
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
  type VirtualScene,
} from '../../testing/scenes/virtual-scene.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)

async function addGroup({ edge, fleet }: VirtualScene, name: string): Promise<void> {
  const asked = virtualCluster(name, { nodeSelector: { matchLabels: { branch: name } } })
  await edge.resource(virtualClusterResource).create(asked, soon())
  await untilCluster(fleet, `bank-${name}`, ({ Ready }) => Ready === 'True')
}

async function patchGroup(
  edge: ClusterClient,
  name: string,
  spec: VirtualCluster['spec'],
): Promise<void> {
  const request = { name, type: 'merge', patch: { spec } } as const
  await edge.resource(virtualClusterResource).patch(request, soon())
}

function groupOf(node: KubeObject | undefined): string | undefined {
  return node?.metadata.labels?.[groupLabel]
}

function podOn(node: string, namespace: string): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'till', namespace },
    spec: {
      nodeName: node,
      nodeSelector: { [groupLabel]: 'bank-east' },
      containers: [{ name: 'till', image: 'till' }],
    },
  }
}

test('a node that moves to another group takes no pod along', async () => {
  await using scene = await startVirtualScene({}, soon())
  const { edge, objects } = scene
  await addNode(edge, 'n1', { branch: 'east' }, soon())
  await addGroup(scene, 'east')
  await addGroup(scene, 'west')
  const nodes = resources.nodes
  await untilObject(
    edge,
    { resource: nodes, key: { name: 'n1' } },
    (node) => groupOf(node) === 'bank-east',
    soon(),
  )
  const namespace = 'default-bank-east'
  // The pods look as if its scheduler had put them there.
  for (const each of [namespace, 'default']) {
    const account = { namespace: each, name: 'default' }
    await untilObject(edge, { resource: resources.serviceAccounts, key: account }, Boolean, soon())
    await objects.create({ group: '', resource: 'pods' }, podOn('n1', each))
  }
  const patch = { metadata: { labels: { branch: 'west' } } }
  await edge.resource(nodes).patch({ name: 'n1', type: 'merge', patch }, soon())
  await untilObject(
    edge,
    { resource: nodes, key: { name: 'n1' } },
    (node) => groupOf(node) === 'bank-west',
    soon(),
  )
  const isGoing = (pod: Pod | undefined) => pod?.metadata.deletionTimestamp !== undefined || !pod
  await untilObject(
    edge,
    { resource: resources.pods, key: { namespace, name: 'till' } },
    isGoing,
    soon(),
  )
  // The edge's own pods are for its operator to move.
  const own = await edge
    .resource(resources.pods)
    .get({ namespace: 'default', name: 'till' }, soon())
  assert.equal(own.metadata.deletionTimestamp, undefined)
  // The hub gets it with the report's next round; here it is reported at once.
  await untilObject(
    edge,
    { resource: virtualClusterResource, key: { name: 'west' } },
    (found) => found?.status?.nodes?.total === 1,
    soon(),
  )
})

test('a mistake in a VirtualCluster is reported and removes nothing', async () => {
  await using scene = await startVirtualScene({}, soon())
  const { hub, edge } = scene
  await addNode(edge, 'n1', { branch: 'east' }, soon())
  await addGroup(scene, 'east')
  await hub.resource(workResource).create(workFor('bank-east', till), soon())
  const deployment = { namespace: 'shop-bank-east', name: 'till' }
  const made = await untilObject(
    edge,
    { resource: resources.deployments, key: deployment },
    Boolean,
    soon(),
  )
  const isTold = (found: VirtualCluster | undefined) => (found?.status?.problems ?? []).length > 0
  await patchGroup(edge, 'east', { clusterName: 'East!', namespaces: { pattern: 'x' } })
  const told = await untilObject(
    edge,
    { resource: virtualClusterResource, key: { name: 'east' } },
    isTold,
    soon(),
  )
  assert.match(told?.status?.problems?.[0] ?? '', /clusterName "East!": /)
  assert.equal(told?.status?.clusterName, 'bank-east')
  await hub.resource(clusterResource).get({ name: 'bank-east' }, soon())
  const kept = await edge.resource(resources.deployments).get(deployment, soon())
  assert.equal(kept.metadata.uid, made?.metadata.uid)
  assert.equal(
    groupOf(await edge.resource(resources.nodes).get({ name: 'n1' }, soon())),
    'bank-east',
  )
  const patch = { spec: { clusterName: null, namespaces: null } }
  await edge.resource(virtualClusterResource).patch({ name: 'east', type: 'merge', patch }, soon())
  await untilObject(
    edge,
    { resource: virtualClusterResource, key: { name: 'east' } },
    (found) => !isTold(found),
    soon(),
  )
})

test('pods of a virtual cluster are kept from its nodes until the edge allows it', async () => {
  await using scene = await startVirtualScene({}, soon())
  const { hub, edge } = scene
  await addNode(edge, 'n1', { branch: 'east' }, soon())
  await addGroup(scene, 'east')
  await hub.resource(workResource).create(workFor('bank-east', till), soon())
  const key = { name: 'shop-bank-east' }
  const untilLevel = (level: string | undefined) =>
    untilObject(
      edge,
      { resource: resources.namespaces, key },
      (found) => {
        const { labels } = found?.metadata ?? {}
        return found !== undefined && labels?.['pod-security.kubernetes.io/enforce'] === level
      },
      soon(),
    )
  await untilLevel('baseline')
  await patchGroup(edge, 'east', { isolation: { allowsHostAccess: true } })
  await untilLevel(undefined)
  await patchGroup(edge, 'east', { isolation: { allowsHostAccess: false } })
  await untilLevel('baseline')
})

test('changes made while the agent was away are applied when it is back: renamed, deleted, moved', async () => {
  await using scene = await startVirtualScene({}, soon())
  const { hub, edge, fleet } = scene
  await addNode(edge, 'n1', { branch: 'east' }, soon())
  await addNode(edge, 'n2', { branch: 'west' }, soon())
  await addGroup(scene, 'east')
  await addGroup(scene, 'west')
  const idBefore = (await hub.resource(clusterResource).get({ name: 'bank-east' }, soon())).spec.id
  await hub.resource(workResource).create(workFor('bank-west', till), soon())
  const west = { namespace: 'shop-bank-west', name: 'till' }
  await untilObject(edge, { resource: resources.deployments, key: west }, Boolean, soon())
  await scene.stopAgent()
  await patchGroup(edge, 'east', { clusterName: 'bank-ost' })
  await edge.resource(virtualClusterResource).delete({ name: 'west' }, soon())
  await hub
    .resource(workResource)
    .delete({ namespace: executionNamespace('bank-west'), name: 'till' }, soon())
  await scene.startAgent()
  await untilCluster(fleet, 'bank-ost', ({ Ready }) => Ready === 'True')
  for (const name of ['bank-east', 'bank-west']) {
    await untilObject(
      hub,
      { resource: clusterResource, key: { name } },
      (found) => found === undefined,
      soon(),
    )
    await untilObject(
      edge,
      { resource: resources.namespaces, key: { name: `default-${name}` } },
      (found) => !found,
      soon(),
    )
  }
  await untilObject(
    edge,
    { resource: resources.namespaces, key: { name: west.namespace } },
    (found) => !found,
    soon(),
  )
  await untilObject(
    edge,
    { resource: virtualClusterResource, key: { name: 'west' } },
    (found) => !found,
    soon(),
  )
  await untilObject(
    edge,
    { resource: resources.nodes, key: { name: 'n1' } },
    (node) => groupOf(node) === 'bank-ost',
    soon(),
  )
  await untilObject(
    edge,
    { resource: resources.nodes, key: { name: 'n2' } },
    (node) => groupOf(node) === undefined,
    soon(),
  )
  // Under its old name it is the same cluster again.
  await patchGroup(edge, 'east', { clusterName: 'bank-east' })
  await untilCluster(fleet, 'bank-east', ({ Ready }) => Ready === 'True')
  const again = await hub.resource(clusterResource).get({ name: 'bank-east' }, soon())
  assert.equal(again.spec.id, idBefore)
})
