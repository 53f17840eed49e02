import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger, systemClock, systemRandom } from '@skerry/base'
import { createCluster, createInformer, resources } from '@skerry/client'
import { clusterNamespace, clusterResource, conditionOf, type Cluster } from '@skerry/fleet-kinds'
import { until } from '@skerry/testing'
import { startTestEdge, startTestHub } from '../../../testing/scenes/test-fleet.ts'
import { runClusterReporter } from './cluster-reporter.ts'
import { EdgeObserver } from './edge-observer.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)
const deps = { clock: systemClock, random: systemRandom, log: silentLogger }

function readyOf({ status }: Cluster): string | undefined {
  return conditionOf(status?.conditions, 'Ready')?.status
}

test('a cluster that comes back renews its lease before it says that it is Ready', async () => {
  await using fleet = await startTestHub()
  await using edge = await startTestEdge()
  const local = createCluster(edge.transport, { ...deps, userAgent: 'test' })
  const observer = new EdgeObserver({ ...deps, local })
  const clusters = createInformer(fleet.admin.resource(clusterResource), {}, deps)
  const leases = createInformer(fleet.admin.resource(resources.leases), {}, deps)
  const stop = new AbortController()
  const options = { name: 'edge', timing: { statusPeriodMs: 50 } }
  const running = Promise.allSettled([
    observer.run(stop.signal),
    clusters.run(stop.signal),
    leases.run(stop.signal),
    runClusterReporter(options, { ...deps, hub: fleet.admin, observer }, stop.signal),
  ])
  const key = { namespace: clusterNamespace, name: 'edge' }
  const known = await until(async () => {
    const cluster = clusters.get({ name: 'edge' })
    return cluster && readyOf(cluster) === 'True' && leases.get(key) ? cluster : undefined
  }, soon())
  const renewals: number[] = []
  const ready = Promise.withResolvers<number>()
  const revisionOf = (version: string | undefined): number => Number(version)
  leases.onChange(({ object: { metadata } }) => {
    if (metadata.namespace === clusterNamespace) renewals.push(revisionOf(metadata.resourceVersion))
  })
  clusters.onChange(({ object, old }) => {
    const isBack = readyOf(object) === 'True' && old !== undefined && readyOf(old) === 'Unknown'
    if (isBack) ready.resolve(revisionOf(object.metadata.resourceVersion))
  })
  const conditions = (known.status?.conditions ?? []).map((each) =>
    each.type === 'Ready' ? { ...each, status: 'Unknown' } : each,
  )
  const lost = await fleet.admin
    .resource(clusterResource)
    .patchStatus({ name: 'edge', type: 'merge', patch: { status: { conditions } } }, soon())
  const lostAt = revisionOf(lost.metadata.resourceVersion)
  const readyAt = await ready.promise
  await until(async () => renewals.some((at) => at > readyAt) || undefined, soon())
  stop.abort(new Error('the test is over'))
  await running
  assert.ok(
    renewals.some((at) => at > lostAt && at < readyAt),
    `lost at ${lostAt}, ready at ${readyAt}, renewed at ${renewals.join(', ')}`,
  )
})
