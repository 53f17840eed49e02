import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createMetrics, linkedSignal, silentLogger, systemClock, systemRandom } from '@skerry/base'
import { readBody, resources, type ClusterClient } from '@skerry/client'
import { until } from '@skerry/testing'
import { openAdminCluster } from '../admin/admin-cluster.ts'
import { runSite } from './site.ts'

const soon = (): AbortSignal => AbortSignal.timeout(60_000)

/** A site in this process with its controllers and no scheduler. */
async function startSite() {
  await using stack = new AsyncDisposableStack()
  const dataDir = await mkdtemp(join(tmpdir(), 'skerry-'))
  stack.defer(() => rm(dataDir, { recursive: true }))
  const stop = stack.use(linkedSignal(new AbortController().signal))
  const deps = { clock: systemClock, random: systemRandom, log: silentLogger }
  const running = runSite(
    {
      dataDir,
      name: 'shop',
      listening: { bindAddress: '127.0.0.1', port: 0 },
      network: {
        clusterCidr: '10.42.0.0/16',
        serviceCidr: '10.43.0.0/16',
        clusterDomain: 'cluster.local',
      },
      control: { scheduler: { isDisabled: true } },
    },
    { ...deps, metrics: createMetrics(), signal: stop.signal },
  ).catch((error: unknown) => {
    if (!stop.signal.aborted) throw error
  })
  stack.defer(async () => {
    stop.abort(new Error('the test is over'))
    await running
  })
  const path = join(dataDir, 'admin.kubeconfig')
  const opened = until(() => openAdminCluster(path).catch(() => undefined))
  const ended = running.then((): never => assert.fail('the site ended'))
  const { cluster } = await Promise.race([opened, ended])
  const owned = stack.move()
  return { cluster, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

async function scrapeOf(cluster: ClusterClient): Promise<string> {
  const request = { method: 'GET', path: '/metrics', headers: {} } as const
  const { status, body } = await cluster.raw(request, soon())
  assert.equal(status, 200)
  return (await readBody(body)).toString()
}

test('the metrics of a site count the bytes that its store writes, and its changes', async () => {
  await using site = await startSite()
  const { cluster } = site
  const valueOf = async (name: string): Promise<number> => {
    const [, value] = new RegExp(`^${name} (\\d+)$`, 'm').exec(await scrapeOf(cluster)) ?? []
    return Number(value)
  }
  const bytes = await valueOf('skerry_store_bytes_written_total')
  const writes = await valueOf('skerry_store_writes_total')
  assert.ok(writes > 0 && bytes / writes > 1_000, `${bytes} bytes for ${writes} writes`)
  const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } } as const
  await cluster
    .resource(resources.configMaps)
    .create({ ...configMap, metadata: { ...configMap.metadata, namespace: 'default' } }, soon())
  assert.ok((await valueOf('skerry_store_writes_total')) > writes)
  assert.ok((await valueOf('skerry_store_bytes_written_total')) >= bytes + 4_096)
})

test('the metrics of a site show the queues and reconciliations of its controllers', async () => {
  await using site = await startSite()
  const { cluster } = site
  const scrape = () => scrapeOf(cluster)
  const name = 'replicaset-controller'
  await cluster.resource(resources.replicaSets).create(
    {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { name: 'web', namespace: 'default' },
      spec: {
        replicas: 2,
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { labels: { app: 'web' } },
          spec: { containers: [{ name: 'main', image: 'a' }] },
        },
      },
    },
    soon(),
  )
  const counted = new RegExp(
    `^controller_runtime_reconcile_total\\{controller="${name}",result="success"\\} [1-9]`,
    'm',
  )
  const text = await until(async () => {
    const found = await scrape()
    return counted.test(found) && found.includes(`workqueue_depth{name="${name}"} 0`)
      ? found
      : undefined
  }, soon())
  const lines = text.split('\n')
  for (const line of [
    `workqueue_adds_total{name="${name}"} [1-9]`,
    `workqueue_retries_total{name="${name}"} \\d`,
    `workqueue_unfinished_work_seconds{name="${name}"} \\d`,
    `workqueue_longest_running_processor_seconds{name="${name}"} \\d`,
    `workqueue_queue_duration_seconds_bucket{le="10",name="${name}"} [1-9]`,
    `workqueue_work_duration_seconds_count{name="${name}"} [1-9]`,
    'workqueue_adds_total{name="garbage-collector-controller"} \\d',
  ]) {
    const pattern = new RegExp(`^${line.replace('{', '\\{').replace('}', '\\}')}`)
    assert.ok(
      lines.some((each) => pattern.test(each)),
      line,
    )
  }
})
