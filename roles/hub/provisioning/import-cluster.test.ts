import assert from 'node:assert/strict'
import { test } from 'node:test'
import yaml from 'yaml'
import type { AnyObject } from '@skerry/api'
import { ifThere, resources } from '@skerry/client'
import { clusterResource, registrationResource } from '@skerry/fleet-kinds'
import { edgeClusterResource, type EdgeCluster } from '@skerry/provisioning'
import { untilObject } from '@skerry/testing'
import { until } from '../../../testing/until.ts'
import {
  startTestAgent,
  startTestEdge,
  startTestHub,
  type TestHub,
} from '../../../testing/scenes/test-fleet.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)
const key = { namespace: 'default', name: 'branch-8' }

const untilPhase = ({ admin }: TestHub, phase: string): Promise<EdgeCluster | undefined> =>
  untilObject(
    admin,
    { resource: edgeClusterResource, key },
    (found) => found?.status?.phase === phase,
    soon(),
  )

async function createImport({ admin }: TestHub): Promise<void> {
  const object = { apiVersion: 'hub.skerry.io/v1alpha1', kind: 'EdgeCluster', metadata: key }
  // An import needs no machines, so its author leaves them out.
  const edge = { ...object, spec: { import: {} } } as unknown as EdgeCluster
  await admin.resource(edgeClusterResource).create(edge, soon())
}

async function joinTexts({ admin }: TestHub): Promise<Record<string, string>> {
  const name = { ...key, name: 'branch-8-join' }
  const secret = await ifThere(admin.resource(resources.secrets).get(name, soon()))
  const data = Object.entries(secret?.data ?? {})
  return Object.fromEntries(data.map(([field, text]) => [field, atob(text)]))
}

/** Registers a cluster as an administrator, under the name that the import has claimed. */
async function register({ admin }: TestHub): Promise<void> {
  const registration = { apiVersion: 'hub.skerry.io/v1alpha1', kind: 'ClusterRegistration' }
  const spec = { clusterName: 'branch-8' }
  await admin.resource(registrationResource).create({ ...registration, metadata: {}, spec }, soon())
}

const step = (edge: EdgeCluster | undefined, name: string) =>
  edge?.status?.steps?.find((each) => each.name === name)

test('a cluster is imported by its manifest, shows no token, and is backed out of cleanly', async () => {
  await using fleet = await startTestHub()
  await using edge = await startTestEdge()
  const clusters = fleet.admin.resource(clusterResource)
  await createImport(fleet)
  const waiting = await untilPhase(fleet, 'Waiting')
  await assert.rejects(register(fleet), /EdgeCluster default\/branch-8 has claimed the name/)
  const { token = '', manifest = '', command = '' } = await joinTexts(fleet)
  assert.match(command, /^skerry agent --hub https:/)
  assert.match(step(waiting, 'AgentConnected')?.message ?? '', /join-manifest branch-8/)
  assert.deepEqual(
    [step(waiting, 'AgentConnected')?.attempt, waiting?.status?.nodesMax, waiting?.spec.machines],
    [0, undefined, []],
  )

  const objects: AnyObject[] = yaml.parseAllDocuments(manifest).map((each) => each.toJSON())
  const kinds = ['Namespace', 'ClusterRole', 'ClusterRoleBinding']
  for (const object of objects.filter(({ kind }) => kinds.includes(String(kind)))) {
    const [group, resource] =
      object['kind'] === 'Namespace'
        ? ['', 'namespaces']
        : ['rbac.authorization.k8s.io', `${String(object['kind']).toLowerCase()}s`]
    await edge.objects.create({ group, resource }, object)
  }
  const policy = { deniedGroups: ['system:masters'] }
  const agent = { name: 'branch-8', api: edge.api, token, policy }
  await using _agent = await startTestAgent(fleet, agent)
  const ready = await untilPhase(fleet, 'Ready')
  // An agent that has lost its key gets in again.
  await register(fleet)
  assert.match(step(ready, 'ClusterReady')?.message ?? '', /is Ready: Kubernetes v\d+\.\d+/)
  assert.deepEqual(await joinTexts(fleet), {})
  assert.ok(!JSON.stringify(ready).includes(token.slice(7)))

  await fleet.admin.resource(edgeClusterResource).delete(key, soon())
  const gone = (found: unknown): boolean => found === undefined
  await untilObject(fleet.admin, { resource: edgeClusterResource, key }, gone, soon())
  assert.equal(await ifThere(clusters.get({ name: 'branch-8' }, soon())), undefined)
  const namespace = edge.objects.get({ group: '', resource: 'namespaces' }, '', 'skerry-agent')
  assert.notEqual(namespace?.metadata.deletionTimestamp, undefined)
  for (const resource of ['clusterroles', 'clusterrolebindings']) {
    for (const name of ['skerry-agent', 'skerry-agent-removal']) {
      const found = edge.objects.get({ group: 'rbac.authorization.k8s.io', resource }, '', name)
      const owners = found?.metadata.ownerReferences?.map(({ uid }) => uid)
      assert.deepEqual(owners, [namespace?.metadata.uid], `${resource} ${name}`)
    }
  }
})

test('an import that nobody has connected goes without a trace, and a Secret of others stays', async () => {
  await using fleet = await startTestHub()
  const secrets = fleet.admin.resource(resources.secrets)
  const other = { ...key, name: 'branch-8-join' }
  const made = { apiVersion: 'v1', kind: 'Secret', metadata: other, data: { a: btoa('b') } }
  await secrets.create(made, soon())
  await createImport(fleet)
  const failed = await untilPhase(fleet, 'Failed')
  assert.match(step(failed, 'MakeJoinManifest')?.message ?? '', /Secret branch-8-join .* is not of/)
  assert.deepEqual(await joinTexts(fleet), { a: 'b' })
  await secrets.delete(other, soon())
  const annotations = { 'hub.skerry.io/retry': '*' }
  const patch = { ...key, type: 'merge' as const, patch: { metadata: { annotations } } }
  await fleet.admin.resource(edgeClusterResource).patch(patch, soon())
  await untilPhase(fleet, 'Waiting')
  await fleet.admin.resource(edgeClusterResource).delete(key, soon())
  const gone = (found: unknown): boolean => found === undefined
  await untilObject(fleet.admin, { resource: edgeClusterResource, key }, gone, soon())
  const tokens = await secrets.list({ namespace: 'kube-system' }, soon())
  const left = tokens.items.filter(({ type }) => type === 'bootstrap.kubernetes.io/token')
  assert.deepEqual(left, [])
})

test('an agent that is away is removed by hand, and its step is skipped', async () => {
  await using fleet = await startTestHub()
  await using edge = await startTestEdge()
  await createImport(fleet)
  await untilPhase(fleet, 'Waiting')
  const { token = '' } = await joinTexts(fleet)
  {
    await using _agent = await startTestAgent(fleet, { name: 'branch-8', api: edge.api, token })
    await untilPhase(fleet, 'Ready')
  }
  const edges = fleet.admin.resource(edgeClusterResource)
  const limit = { spec: { retry: { attempts: 1 } } }
  await edges.patch({ ...key, type: 'merge', patch: limit }, soon())
  await edges.delete(key, soon())
  const failed = await untilPhase(fleet, 'Failed')
  assert.match(
    step(failed, 'RemoveAgent')?.message ?? '',
    /the hub cannot remove the agent: .*kubectl delete namespace skerry-agent.*skip branch-8 RemoveAgent/,
  )
  const annotations = { 'hub.skerry.io/skip': 'RemoveAgent' }
  await edges.patch({ ...key, type: 'merge', patch: { metadata: { annotations } } }, soon())
  await until(async () => (await ifThere(edges.get(key, soon()))) === undefined)
})
