/** Only some users may have a hub dial clusters in push mode, and with which credentials is restricted. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isStatusError } from '@skerry/api'
import { createCluster, resources, type ClusterClient } from '@skerry/client'
import { clusterResource, executionNamespace } from '@skerry/fleet-kinds'
import { workResource } from '@skerry/karmada-kinds'
import { untilObject } from '@skerry/testing'
import { registerCluster, startTestHub, type TestHub } from '../../testing/scenes/test-fleet.ts'
import { clusterOf, rbac, readyOf, secretOf, space } from '../../testing/scenes/test-push.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)

test('a user who has the hub send a secret somewhere must be allowed to read it', async () => {
  await using fleet = await startTestHub({ push: true })
  const { admin } = fleet
  const apiVersion = `${rbac}/v1`
  const metadata = { name: 'registrar' }
  const rules = [{ verbs: ['*'], apiGroups: ['cluster.karmada.io'], resources: ['clusters'] }]
  const role = { apiVersion, kind: 'ClusterRole', metadata, rules }
  await admin.resource(resources.clusterRoles).create(role, soon())
  const roleRef = { apiGroup: rbac, kind: 'ClusterRole', name: 'registrar' }
  const subjects = [{ apiGroup: rbac, kind: 'User', name: 'anna' }]
  const binding = { apiVersion, kind: 'ClusterRoleBinding', metadata, roleRef, subjects }
  await admin.resource(resources.clusterRoleBindings).create(binding, soon())
  await admin
    .resource(clusterResource)
    .create(clusterOf('shop', { apiEndpoint: 'https://shop.example' }), soon())
  using transport = await fleet.as({ commonName: 'anna' })
  const anna = createCluster(transport, { ...fleet.context, userAgent: 'test' })
  const clusters = anna.resource(clusterResource)
  const isRefused = (error: unknown): boolean =>
    isStatusError(error, 'Forbidden') && /must be allowed to get it/.test(error.message)
  const secretRef = { ...space, name: 'shop' }
  const thief = clusterOf('thief', { apiEndpoint: 'https://thief.example', secretRef })
  await assert.rejects(clusters.create(thief, soon()), isRefused)
  for (const spec of [{ apiEndpoint: 'https://thief.example' }, { proxyURL: 'http://thief' }]) {
    const change = { name: 'shop', type: 'merge', patch: { spec } } as const
    await assert.rejects(clusters.patch(change, soon()), isRefused)
  }
  // They may change fields that do not affect where it is.
  const patch = { spec: { region: 'north' } }
  await clusters.patch({ name: 'shop', type: 'merge', patch }, soon())
})

async function agentOf(fleet: TestHub, name: string) {
  const transport = await fleet.as({
    commonName: `system:karmada:agent:${name}`,
    organizations: ['system:karmada:agents'],
  })
  const cluster = createCluster(transport, { ...fleet.context, userAgent: 'test' })
  return { cluster, [Symbol.dispose]: () => transport[Symbol.dispose]() }
}

test('an agent puts its cluster in push mode neither at first nor later', async () => {
  await using fleet = await startTestHub({ push: true })
  using agent = await agentOf(fleet, 'shop')
  const clusters = agent.cluster.resource(clusterResource)
  const fresh = clusterOf('shop', { apiEndpoint: 'https://127.0.0.1:1' })
  const isRefused = (error: unknown): boolean =>
    isStatusError(error, 'Forbidden') &&
    /an agent may not put a cluster in push/.test(error.message)
  await assert.rejects(clusters.create(fresh, soon()), isRefused)
  await registerCluster(fleet, 'shop')
  const change = { name: 'shop', patch: { spec: { syncMode: 'Push' } } }
  const applied = { ...fresh, spec: { syncMode: 'Push' } }
  const writes: Parameters<typeof clusters.patch>[0][] = [
    { ...change, type: 'merge' },
    { name: 'shop', type: 'apply', patch: applied, fieldManager: 'me', force: true },
  ]
  for (const write of writes) await assert.rejects(clusters.patch(write, soon()), isRefused)
  const known = await fleet.admin.resource(clusterResource).get({ name: 'shop' }, soon())
  await assert.rejects(clusters.update({ ...known, spec: { syncMode: 'Push' } }, soon()), isRefused)
  const { spec: kept } = await fleet.admin.resource(clusterResource).get({ name: 'shop' }, soon())
  assert.equal(kept.syncMode, 'Pull')
})

test('no agent speaks for a cluster in push mode, nor reads or gives its credentials', async () => {
  await using fleet = await startTestHub({ push: true })
  using agent = await agentOf(fleet, 'shop')
  const secrets = fleet.admin.resource(resources.secrets)
  await secrets.create(secretOf('shop', { token: 'none', caBundle: fleet.caPem }), soon())
  await fleet.admin
    .resource(clusterResource)
    .create(clusterOf('shop', { apiEndpoint: 'https://127.0.0.1:1' }), soon())
  const clusters = agent.cluster.resource(clusterResource)
  const changes = [
    { spec: { syncMode: 'Pull' } },
    { spec: { apiEndpoint: 'https://thief.example' } },
    { spec: { secretRef: { ...space, name: 'other' } } },
    { spec: { insecureSkipTLSVerification: true } },
    { metadata: { labels: { city: 'hull' } } },
  ]
  for (const patch of changes) {
    const change = { name: 'shop', type: 'merge', patch } as const
    await assert.rejects(clusters.patch(change, soon()), (error: unknown) =>
      isStatusError(error, 'Forbidden'),
    )
  }
  const works = agent.cluster.resource(workResource)
  await assert.rejects(works.list({ namespace: executionNamespace('shop') }, soon()), (error) =>
    isStatusError(error, 'Forbidden'),
  )
  // The second name is that of another agent's second secret, and of a cluster in push mode.
  using other = await agentOf(fleet, 'farm')
  await secrets.create(secretOf('farm-impersonator', { token: 'none' }), soon())
  const asked: [ClusterClient, string][] = [
    [agent.cluster, 'shop'],
    [other.cluster, 'farm-impersonator'],
  ]
  for (const [asker, name] of asked) {
    const own = asker.resource(resources.secrets)
    const change = { ...space, name, patch: { stringData: { token: 'mine' } } }
    const isRefused = (error: unknown): boolean => isStatusError(error, 'Forbidden')
    await assert.rejects(own.get({ ...space, name }, soon()), isRefused)
    await assert.rejects(own.patch({ ...change, type: 'merge' }, soon()), isRefused)
  }
  // A Secret that an agent wrote before is refused.
  const planted = { ...secretOf('farm', { token: 'mine', caBundle: fleet.caPem }), type: 'Opaque' }
  await other.cluster.resource(resources.secrets).create(planted, soon())
  const farm = clusterOf('farm', { apiEndpoint: 'https://127.0.0.1:1' })
  await fleet.admin.resource(clusterResource).create(farm, soon())
  await untilObject(
    fleet.admin,
    { resource: clusterResource, key: { name: 'farm' } },
    (cluster) => /was written by an agent/.test(readyOf(cluster)?.message ?? ''),
    soon(),
  )
})
