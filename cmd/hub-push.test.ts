/** Clusters in push mode, as `karmadactl join` registers them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isStatusError } from '@skerry/api'
import { createCluster, type PatchRequest } from '@skerry/client'
import { clusterResource, type Cluster } from '@skerry/karmada'
import { registerCluster, startTestHub, type TestHub } from './test-fleet.ts'

const signal = AbortSignal.timeout(60_000)

async function agentOf(fleet: TestHub, name: string) {
  const transport = await fleet.as({
    commonName: `system:karmada:agent:${name}`,
    organizations: ['system:karmada:agents'],
  })
  const cluster = createCluster(transport, { ...fleet.context, userAgent: 'test' })
  return { cluster, [Symbol.dispose]: () => transport[Symbol.dispose]() }
}

test('an agent puts its cluster in push mode neither at first nor later', async () => {
  await using fleet = await startTestHub()
  using agent = await agentOf(fleet, 'shop')
  const clusters = agent.cluster.resource(clusterResource)
  const spec = { syncMode: 'Push', apiEndpoint: 'https://127.0.0.1:1' } as const
  const fresh: Cluster = {
    apiVersion: 'cluster.karmada.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name: 'shop' },
    spec,
  }
  const isRefused = (error: unknown): boolean =>
    isStatusError(error, 'Forbidden') &&
    /an agent may not put a cluster in push/.test(error.message)
  await assert.rejects(clusters.create(fresh, signal), isRefused)
  await registerCluster(fleet, 'shop')
  const change = { name: 'shop', patch: { spec: { syncMode: 'Push' } } }
  const applied = { ...fresh, spec: { syncMode: 'Push' } }
  const writes: PatchRequest[] = [
    { ...change, type: 'merge' },
    { name: 'shop', type: 'apply', patch: applied, fieldManager: 'me', force: true },
  ]
  for (const write of writes) await assert.rejects(clusters.patch(write, signal), isRefused)
  const known = await fleet.admin.resource(clusterResource).get({ name: 'shop' }, signal)
  await assert.rejects(clusters.update({ ...known, spec: { syncMode: 'Push' } }, signal), isRefused)
  const { spec: kept } = await fleet.admin.resource(clusterResource).get({ name: 'shop' }, signal)
  assert.equal(kept.syncMode, 'Pull')
})
