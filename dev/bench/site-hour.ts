import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { silentLogger, systemClock } from '@skerry/base'
import { createCluster, createHttpsTransport, loadKubeconfig, resources } from '@skerry/client'
import type { ClusterClient } from '@skerry/client'
import type { ApiSubject } from './measure/api-subject.ts'
import { startNodes, type SimulatedNodes } from './simulated-nodes.ts'

/**
 * An hour of a site of 20 nodes and 500 pods in one minute: leases, status, rollouts, scaling, changed
 * configuration, events, and a person who looks. Periodic work of a control plane (resync, compaction) is not
 * compressed.
 */
const hour = Object.freeze({
  nodes: 20,
  deployments: 20,
  replicas: 25,
  /** One second stands for a minute. */
  minutes: 60,
  leasesPerMinute: 6,
  statusEveryMinutes: 5,
  rolloutEveryMinutes: 15,
  scaleEveryMinutes: 10,
})

const minuteMs = 1_000
const settledMsMax = 120_000
const ticksPerSecond = 100

/** Returns how many seconds on a processor all processes of the control plane took in that hour. */
export async function measureHour(subject: ApiSubject): Promise<number> {
  const stop = new AbortController()
  const { transport } = await loadKubeconfig(
    subject.kubeconfig,
    {},
    { clock: systemClock, environment: {} },
  )
  using https = createHttpsTransport(transport, { clock: systemClock })
  const cluster = createCluster(https, {
    clock: systemClock,
    log: silentLogger,
    userAgent: 'bench/1 (hour)',
  })
  const nodes = await startNodes(cluster, hour.nodes, stop.signal)
  try {
    await createWorkload(cluster, stop.signal)
    await nodes.untilRunning(hour.deployments * hour.replicas, settledMsMax)
    const before = await processorSeconds(subject)
    await playHour(cluster, nodes, stop.signal)
    await nodes.untilRunning(hour.deployments * hour.replicas, settledMsMax)
    return (await processorSeconds(subject)) - before
  } finally {
    stop.abort(new Error('The hour is over'))
    await nodes.done
  }
}

async function createWorkload(cluster: ClusterClient, signal: AbortSignal): Promise<void> {
  for (let index = 0; index < hour.deployments; index += 1) {
    const name = `shop-${index}`
    const labels = { app: name }
    const metadata = { name, namespace: 'default' }
    await cluster
      .resource(resources.configMaps)
      .create({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { revision: '0' } }, signal)
    await cluster.resource(resources.services).create(
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata,
        spec: { selector: labels, ports: [{ port: 80 }] },
      },
      signal,
    )
    await cluster.resource(resources.deployments).create(
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata,
        spec: {
          replicas: hour.replicas,
          selector: { matchLabels: labels },
          template: {
            metadata: { labels },
            spec: { containers: [{ name: 'main', image: 'example/shop:1' }] },
          },
        },
      },
      signal,
    )
  }
}

async function playHour(
  cluster: ClusterClient,
  nodes: SimulatedNodes,
  signal: AbortSignal,
): Promise<void> {
  const startMs = performance.now()
  const slots = hour.minutes * hour.leasesPerMinute
  for (let slot = 0; slot < slots; slot += 1) {
    const waitMs = startMs + (slot * minuteMs) / hour.leasesPerMinute - performance.now()
    if (waitMs > 0) await sleep(waitMs)
    const work = [nodes.renewLeases()]
    if (slot % hour.leasesPerMinute === 0) {
      work.push(playMinute(cluster, { nodes, minute: slot / hour.leasesPerMinute }, signal))
    }
    await Promise.all(work)
  }
}

async function playMinute(
  cluster: ClusterClient,
  { nodes, minute }: { nodes: SimulatedNodes; minute: number },
  signal: AbortSignal,
): Promise<void> {
  const name = `shop-${minute % hour.deployments}`
  const patch = (path: string, body: unknown) =>
    cluster.raw(
      {
        method: 'PATCH',
        path,
        headers: { 'content-type': 'application/merge-patch+json' },
        body: Buffer.from(JSON.stringify(body)),
      },
      signal,
    )
  const deployment = `/apis/apps/v1/namespaces/default/deployments/${name}`
  const work: Promise<unknown>[] = [
    patch(`/api/v1/namespaces/default/configmaps/${name}`, { data: { revision: `${minute}` } }),
    recordEvents(cluster, minute, signal),
    look(cluster, signal),
  ]
  if (minute % hour.statusEveryMinutes === 0) work.push(nodes.reportStatus())
  if (minute % hour.rolloutEveryMinutes === 1) {
    const annotations = { 'bench/rolled-at': `${minute}` }
    work.push(patch(deployment, { spec: { template: { metadata: { annotations } } } }))
  }
  if (minute % hour.scaleEveryMinutes === 2) work.push(patch(deployment, scaled(-5)))
  if (minute % hour.scaleEveryMinutes === 4) {
    const earlier = `/apis/apps/v1/namespaces/default/deployments/shop-${(minute - 2) % hour.deployments}`
    work.push(patch(earlier, scaled(0)))
  }
  await Promise.all(work)
}

function scaled(by: number) {
  return { spec: { replicas: hour.replicas + by } }
}

async function recordEvents(
  cluster: ClusterClient,
  minute: number,
  signal: AbortSignal,
): Promise<void> {
  for (let index = 0; index < 5; index += 1) {
    const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z')
    await cluster.resource(resources.events).create(
      {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: `looked-${minute}-${index}`, namespace: 'default' },
        involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'some' },
        reason: 'Looked',
        message: 'Somebody looked at this pod',
        type: 'Normal',
        firstTimestamp: now,
        lastTimestamp: now,
      },
      signal,
    )
  }
}

const tableType = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'

/** Sends the requests of `kubectl get`. */
async function look(cluster: ClusterClient, signal: AbortSignal): Promise<void> {
  const paths = [
    '/api/v1/pods?limit=500',
    '/api/v1/nodes?limit=500',
    '/apis/apps/v1/namespaces/default/deployments?limit=500',
  ]
  for (const path of paths) {
    const answer = await cluster.raw(
      { method: 'GET', path, headers: { accept: tableType } },
      signal,
    )
    for await (const _chunk of answer.body) continue
  }
}

/** Returns the user and system time of /proc/<pid>/stat. */
async function processorSeconds({ pids }: ApiSubject): Promise<number> {
  const each = await Promise.all(
    pids.map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
    }),
  )
  return each.reduce((sum, seconds) => sum + seconds, 0)
}
