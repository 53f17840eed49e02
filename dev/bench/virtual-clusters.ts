import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { version } from '../../roles/runtime/version.ts'
import { bundleProgram } from '../build/bundle.ts'
import { make, requestsOf, startAgent, startServer, type Place } from './measure/agent-fleet.ts'
import { alone, type BenchOptions, type Figure } from './measure/figure.ts'
import type { RawClient } from '../processes/raw-client.ts'
import { memoryOf, processorMs } from '../processes/role-process.ts'

const root = join(import.meta.dirname, '../..')
const groups = 200
const registeredMsMax = 300_000
/** The engine gives back what a burst took after half a minute. */
const settleMs = 30_000
const observedMs = 30_000

/** Measures the cost of a cluster's agent with one group of nodes, and with two hundred, a node in each. */
export async function run(_options: BenchOptions): Promise<Figure[]> {
  await mkdir(join(root, '.cache'), { recursive: true })
  const directory = await mkdtemp(join(root, '.cache', 'bench-virtual-clusters-'))
  try {
    const program = await bundleProgram({ outputDirectory: join(directory, 'program'), version })
    return await measure({ program, directory })
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

async function measure(place: Place): Promise<Figure[]> {
  await using hub = await startServer(place, 'hub')
  await using site = await startServer(place, 'site', ['--name', 'bank', '--disable-scheduler'])
  await makeNodes(site.client)
  await using agent = await startAgent(place, {
    hub: hub.port,
    site: site.data,
    duties: ['--virtual-clusters'],
  })
  const { pid } = agent
  await makeGroups(site.client, 1)
  const one = await observe({ pid, hub: hub.client, count: 1 })
  await makeGroups(site.client, groups)
  const many = await observe({ pid, hub: hub.client, count: groups })
  const figure = (name: string, unit: string, value: number): Figure =>
    alone(`virtual-clusters.${name}`, unit, value, null)
  const kilobytes = ((many.memory - one.memory) * 1_000) / (groups - 1)
  return [
    figure('memory.1', 'MB', one.memory),
    figure('memory.200', 'MB', many.memory),
    figure('memory.each', 'kB', kilobytes),
    figure('processor.1', 'ms per s', one.processor),
    figure('processor.200', 'ms per s', many.processor),
    figure('hub-requests.1', 'per s', one.requests),
    figure('hub-requests.200', 'per s', many.requests),
    figure('reported.200', 's', many.seconds),
  ]
}

async function makeNodes(site: RawClient): Promise<void> {
  for (let index = 0; index < groups; index += 1) {
    const name = `node-${index}`
    const metadata = { name, labels: { branch: String(index) } }
    await make(site, '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata })
  }
}

/** Makes groups up to this total. The agent has installed the kind by then, or is about to. */
async function makeGroups(site: RawClient, count: number): Promise<void> {
  for (let index = count === 1 ? 0 : 1; index < count; index += 1) {
    await make(site, '/apis/edge.skerry.io/v1alpha1/virtualclusters', {
      apiVersion: 'edge.skerry.io/v1alpha1',
      kind: 'VirtualCluster',
      metadata: { name: `g${index}` },
      spec: { nodeSelector: { matchLabels: { branch: String(index) } } },
    })
  }
}

interface Observed {
  readonly memory: number
  /** Milliseconds on a processor in a second. */
  readonly processor: number
  readonly requests: number
  /** The time until all were registered and reported. */
  readonly seconds: number
}

async function observe({
  pid,
  hub,
  count,
}: {
  pid: number
  hub: RawClient
  count: number
}): Promise<Observed> {
  const startMs = performance.now()
  await untilReported(hub, count)
  const seconds = (performance.now() - startMs) / 1_000
  await sleep(settleMs)
  const before = { ms: await processorMs(pid), requests: await requestsOf(hub) }
  await sleep(observedMs)
  const spentMs = (await processorMs(pid)) - before.ms
  const requests = (await requestsOf(hub)) - before.requests
  const { resident } = await memoryOf(pid)
  const observed = observedMs / 1_000
  return {
    memory: resident,
    processor: spentMs / observed,
    requests: requests / observed,
    seconds,
  }
}

/** Waits until each reports the nodes of its group. */
async function untilReported(hub: RawClient, count: number): Promise<void> {
  const endMs = performance.now() + registeredMsMax
  const path = '/apis/cluster.karmada.io/v1alpha1/clusters?labelSelector=hub.skerry.io/virtual-of'
  for (;;) {
    const { body } = await hub.get(path)
    // A list of Clusters, as this path has it.
    const { items } = JSON.parse(body.toString()) as {
      items: { status?: { nodeSummary?: { totalNum?: number } } }[]
    }
    const reported = items.filter(({ status }) => (status?.nodeSummary?.totalNum ?? 0) > 0)
    if (reported.length >= count) return
    if (performance.now() > endMs) {
      throw new Error(`Cannot measure: ${reported.length} of ${count} clusters are reported`)
    }
    await sleep(500)
  }
}
