/** An agent that was away for a week finds everything changed, at its hub and at its edge. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { AnyObject, Deployment, KubeObject } from '@skerry/api'
import { writeCertificateAndKey } from '@skerry/bootstrap'
import { resources, type TypedResource } from '@skerry/client'
import {
  agentUserName,
  agentsGroup,
  clusterResource,
  executionNamespace,
  groupLabel,
  virtualClusterResource,
  type VirtualCluster,
} from '@skerry/fleet-kinds'
import { workResource } from '@skerry/karmada-kinds'
import { generateKeyPair, readCertificate, signCertificate } from '@skerry/pki'
import { untilObject } from '@skerry/testing'
import { startTestAgent, untilCluster, type TestHub } from '../../testing/scenes/test-fleet.ts'
import {
  addNode,
  startVirtualScene,
  till,
  virtualCluster,
  workFor,
  type VirtualScene,
} from '../../testing/scenes/virtual-scene.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)
const weekMs = 7 * 86_400_000

const shared: AnyObject = {
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  metadata: { name: 'till' },
  value: 10,
}
const attic: AnyObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'old', namespace: 'attic' },
}

function of<T extends KubeObject>(resource: TypedResource<T>, name: string, namespace?: string) {
  return { resource, key: { name, ...(namespace === undefined ? {} : { namespace }) } }
}

function ofBranch(branch: string, clusterName?: string): VirtualCluster['spec'] {
  const nodeSelector = { matchLabels: { branch } }
  return { nodeSelector, ...(clusterName === undefined ? {} : { clusterName }) }
}

test('an agent that was away for a week makes everything as it is wanted now, and leaves nothing behind', async () => {
  await using scene = await startVirtualScene({}, soon())
  await settle(scene)
  const { hub, edge, fleet } = scene
  const idBefore = (await hub.resource(clusterResource).get({ name: 'bank-west' }, soon())).spec.id
  await scene.stopAgent()
  await letExpire(fleet)
  await changeAll(scene)
  await using _agent = await startTestAgent(fleet, {
    name: 'bank',
    api: scene.api,
    hasVirtualClusters: true,
    token: '',
  })
  const isNew = (found: Deployment | undefined): boolean =>
    found?.spec?.template.spec?.containers[0]?.image === 'till:2'
  await untilObject(edge, of(resources.deployments, 'till', 'shop-bank-east'), isNew, soon())
  const isGone = (found: unknown): boolean => found === undefined
  await untilObject(edge, of(resources.configMaps, 'old', 'attic-bank-east'), isGone, soon())
  await untilObject(hub, of(workResource, 'old', executionNamespace('bank-east')), isGone, soon())
  await untilObject(edge, of(virtualClusterResource, 'west'), isGone, soon())
  const isThere = (found: VirtualCluster | undefined): boolean =>
    found?.status?.clusterName === 'bank-west' &&
    (found.status.conditions ?? []).every(({ status }) => status === 'True')
  await untilObject(edge, of(virtualClusterResource, 'other'), isThere, soon())
  for (const [name, group] of Object.entries(groupsNow)) {
    const isIn = (node: KubeObject | undefined) => node?.metadata.labels?.[groupLabel] === group
    await untilObject(edge, of(resources.nodes, name), isIn, soon())
  }
  await untilObject(edge, of(resources.namespaces, 'default-bank-west'), Boolean, soon())
  await isAllThereIs(scene)
  const cluster = await hub.resource(clusterResource).get({ name: 'bank-west' }, soon())
  assert.equal(cluster.spec.id, idBefore, 'the same name is the same cluster')
  const pem = await readFile(join(fleet.directory, 'agent-bank', 'agent.crt'), 'utf8')
  assert.ok(readCertificate(pem).notAfterMs > fleet.context.clock.now())
})

const groupsNow = { n1: 'bank-east', n2: 'bank-east', n3: 'bank-west' }

/** Two branches, each with a till, and one with something in its attic. */
async function settle({ hub, edge, fleet }: VirtualScene): Promise<void> {
  await addNode(edge, 'n1', { branch: 'east' }, soon())
  for (const name of ['n2', 'n3']) await addNode(edge, name, { branch: 'west' }, soon())
  for (const name of ['east', 'west']) {
    const cluster = `bank-${name}`
    await edge.resource(virtualClusterResource).create(virtualCluster(name, ofBranch(name)), soon())
    await untilCluster(fleet, cluster, ({ Ready }) => Ready === 'True')
    await hub.resource(workResource).create(workFor(cluster, till, shared), soon())
    await untilObject(edge, of(resources.deployments, 'till', `shop-${cluster}`), Boolean, soon())
  }
  const old = workFor('bank-east', attic)
  await hub
    .resource(workResource)
    .create({ ...old, metadata: { ...old.metadata, name: 'old' } }, soon())
  await untilObject(edge, of(resources.configMaps, 'old', 'attic-bank-east'), Boolean, soon())
}

async function letExpire({ hub, directory, context }: TestHub): Promise<void> {
  const { publicKeyPem, privateKeyPem } = await generateKeyPair()
  const notAfterMs = context.clock.now() - weekMs
  const certificatePem = await signCertificate(hub.plane.pki.authority, {
    subject: { commonName: agentUserName('bank'), organizations: [agentsGroup] },
    publicKeyPem,
    notBeforeMs: notAfterMs - weekMs,
    notAfterMs,
    keyUsages: ['digitalSignature'],
    extendedUsages: ['clientAuth'],
  })
  const at = (name: string): string => join(directory, 'agent-bank', name)
  const paths = { certificatePath: at('agent.crt'), keyPath: at('agent.key') }
  await writeCertificateAndKey(paths, { certificatePem, privateKeyPem })
}

/**
 * Makes all changes while the agent is offline: the west is closed and another group has its name; a node
 * moved; Works changed and disappeared; a namespace was lost.
 */
async function changeAll({ hub, edge }: VirtualScene): Promise<void> {
  const groups = edge.resource(virtualClusterResource)
  await groups.delete({ name: 'west' }, soon())
  await groups.create(virtualCluster('other', ofBranch('other', 'bank-west')), soon())
  for (const [name, branch] of [
    ['n2', 'east'],
    ['n3', 'other'],
  ] as const) {
    const patch = { metadata: { labels: { branch } } }
    await edge.resource(resources.nodes).patch({ name, type: 'merge', patch }, soon())
  }
  const namespace = executionNamespace('bank-east')
  await hub.resource(workResource).delete({ namespace, name: 'old' }, soon())
  const path = '/spec/workload/manifests/0/spec/template/spec/containers/0/image'
  const patch = [{ op: 'replace', path, value: 'till:2' }]
  await hub.resource(workResource).patch({ namespace, name: 'till', type: 'json', patch }, soon())
  const lost = { name: 'shop-bank-east' }
  await edge.resource(resources.namespaces).delete(lost, soon())
  await untilObject(
    edge,
    of(resources.namespaces, lost.name),
    (found) => found === undefined,
    soon(),
  )
}

/** Checks that neither namespace nor object nor share of the old west is left, at the edge or at the hub. */
async function isAllThereIs({ hub, edge }: VirtualScene): Promise<void> {
  const list = async (api: typeof hub, resource: TypedResource<KubeObject>): Promise<string[]> =>
    (await api.resource(resource).list({}, soon())).items
      .map(({ metadata: { namespace, name = '' } }) => (namespace ? `${namespace}/${name}` : name))
      .toSorted()
  const namespaces = (await list(edge, resources.namespaces)).filter((name) => /bank/.test(name))
  // The attic is deleted when it has been empty for a while.
  assert.deepEqual(
    namespaces.filter((name) => name !== 'attic-bank-east'),
    ['default-bank-east', 'default-bank-west', 'shop-bank-east'],
  )
  assert.deepEqual(await list(edge, resources.deployments), ['shop-bank-east/till'])
  assert.deepEqual(await list(hub, clusterResource), ['bank', 'bank-east', 'bank-west'])
  assert.deepEqual(await list(hub, workResource), [`${executionNamespace('bank-east')}/till`])
  const { metadata } = await edge.resource(resources.priorityClasses).get({ name: 'till' }, soon())
  const sharers = Object.keys(metadata.annotations ?? {}).filter((key) => key.includes('shared-by'))
  assert.deepEqual(sharers, ['shared-by.edge.skerry.io/bank-east'])
}
