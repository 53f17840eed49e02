import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Lease } from '@skerry/api'
import { silentLogger, systemClock, systemRandom } from '@skerry/base'
import { createCluster, createEventSink, resources } from '@skerry/client'
import { createInformerSet, runController } from '@skerry/controller-runtime'
import { clusterKind, clusterNamespace, clusterResource, conditionOf } from '@skerry/fleet-kinds'
import { builtinKinds } from '@skerry/kinds'
import { startTestApiServer, until } from '@skerry/testing'
import { createClusterMonitor } from '@skerry/membership'

const key = { namespace: clusterNamespace, name: 'edge' }
const soon = (): AbortSignal => AbortSignal.timeout(60_000)
const deps = { clock: systemClock, random: systemRandom, log: silentLogger }

test('a cluster whose tunnel is open is alive for as long as its lease lasts; once it is silent, its lease says so, too', async () => {
  const builtin = await builtinKinds()
  await using server = await startTestApiServer({
    kinds: [...builtin, clusterKind(builtin)],
    namespaces: [clusterNamespace],
  })
  const cluster = createCluster(server.transport, { ...deps, userAgent: 'test' })
  const clusters = cluster.resource(clusterResource)
  const leases = cluster.resource(resources.leases)
  const lastTransitionTime = '2026-01-01T00:00:00Z'
  const made = await clusters.create(
    {
      apiVersion: 'cluster.karmada.io/v1alpha1',
      kind: 'Cluster',
      metadata: { name: 'edge' },
      spec: { syncMode: 'Pull' },
    },
    soon(),
  )
  const ready = { type: 'Ready', status: 'True', reason: 'ClusterReady', message: 'it is' } as const
  const status = { conditions: [{ ...ready, lastTransitionTime }] }
  await clusters.updateStatus({ ...made, status }, soon())
  const spec = {
    holderIdentity: 'edge',
    leaseDurationSeconds: 600,
    renewTime: '2026-01-01T00:00:00.000000Z',
  }
  const lease: Lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: key, spec }
  await leases.create(lease, soon())
  const tunnel = { isConnected: true }
  const listeners = new Set<(name: string) => void>()
  const tunnels = {
    of: () => ({ ...tunnel }),
    onChange(listener: (name: string) => void) {
      listeners.add(listener)
      return { [Symbol.dispose]: () => void listeners.delete(listener) }
    },
  }
  const timing = { graceMs: 200, startupGraceMs: 200, returnGraceMs: 0, returnPauseMs: 0 }
  const informers = createInformerSet(cluster, deps)
  const stop = new AbortController()
  const events = createEventSink(cluster, deps)
  const monitor = createClusterMonitor(tunnels, timing)
  const running = Promise.allSettled([
    informers.run(stop.signal),
    runController(monitor, { ...deps, cluster, informers, events }, stop.signal),
  ])
  const readyNow = async (): Promise<string | undefined> => {
    const { status: now } = await clusters.get({ name: 'edge' }, soon())
    const isLooked = conditionOf(now?.conditions, 'Connected')?.status === 'True'
    return isLooked ? conditionOf(now?.conditions, 'Ready')?.status : undefined
  }
  assert.equal(await until(readyNow, soon()), 'True')
  const sinceMs = performance.now()
  await until(async () => performance.now() - sinceMs > 4 * timing.graceMs || undefined, soon())
  assert.equal(await readyNow(), 'True', 'its tunnel is open')
  tunnel.isConnected = false
  for (const listener of listeners) listener('edge')
  const isLost = async (): Promise<true | undefined> => {
    const { status: now } = await clusters.get({ name: 'edge' }, soon())
    return conditionOf(now?.conditions, 'Ready')?.status === 'Unknown' || undefined
  }
  await until(isLost, soon())
  const { spec: after } = await leases.get(key, soon())
  assert.equal(after?.leaseDurationSeconds, 1)
  assert.ok(Date.now() - Date.parse(after?.renewTime ?? '') < 60_000)
  stop.abort(new Error('the test is over'))
  await running
})
