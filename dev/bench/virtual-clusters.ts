import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { engineFlags } from '../../roles/runtime/engine-flags.ts'
import { version } from '../../roles/runtime/version.ts'
import { bundleProgram } from '../build/bundle.ts'
import { runProgram, type RunningProgram } from '../hack/upstream/run-program.ts'
import { alone, type BenchOptions, type Figure } from './measure/figure.ts'
import { freePort } from '../processes/free-port.ts'
import { launcherEnvironment } from '../processes/launcher-environment.ts'
import { openRawClient, type RawClient } from '../processes/raw-client.ts'
import { memoryOf, processorMs, startRoleProcess } from '../processes/role-process.ts'

const execute = promisify(execFile)
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

interface Place {
  readonly program: string
  readonly directory: string
}

async function measure(place: Place): Promise<Figure[]> {
  await using hub = await startServer(place, 'hub')
  await using site = await startServer(place, 'site', ['--name', 'bank', '--disable-scheduler'])
  await makeNodes(site.client)
  await using agent = await startAgent(place, { hub: hub.port, site: site.data })
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

interface Server extends AsyncDisposable {
  readonly port: number
  /** The server's data directory. */
  readonly data: string
  readonly client: RawClient
}

async function startServer(
  { program, directory }: Place,
  role: string,
  more: readonly string[] = [],
): Promise<Server> {
  const port = await freePort()
  const data = join(directory, role)
  const where = ['--data-dir', data, '--bind-address', '127.0.0.1', '--port', String(port)]
  const compileCache = join(directory, 'compile-cache')
  const args = [...where, ...more]
  const started = await startRoleProcess({ program, role, args, directory, compileCache })
  const client = await openRawClient(join(data, 'admin.kubeconfig'))
  return {
    port,
    data,
    client,
    async [Symbol.asyncDispose]() {
      client.close()
      await started[Symbol.asyncDispose]()
    },
  }
}

async function startAgent(
  { program, directory }: Place,
  { hub, site }: { hub: number; site: string },
): Promise<RunningProgram> {
  const server = `https://127.0.0.1:${hub}`
  const asked = ['cluster', 'join-command', 'bank', '--data-dir', join(directory, 'hub')]
  const printed = [...asked, '--server', server, '--virtual-clusters', '-o', 'json']
  const { stdout } = await execute(process.execPath, [program, ...printed])
  // The program `cluster join-command -o json` prints this type.
  const { token, caHash } = JSON.parse(stdout) as { token: string; caHash: string }
  const tokenFile = join(directory, 'token')
  await writeFile(tokenFile, token, { mode: 0o600 })
  const flags = ['--disable-warning=ExperimentalWarning', ...(engineFlags['agent'] ?? [])]
  const registering = ['--hub', server, '--name', 'bank', '--token-file', tokenFile]
  const own = ['--ca-hash', caHash, '--data-dir', join(directory, 'agent')]
  const edge = ['--kubeconfig', join(site, 'admin.kubeconfig'), '--virtual-clusters']
  return runProgram({
    path: process.execPath,
    args: [...flags, program, 'agent', ...registering, ...own, ...edge],
    logPath: join(directory, 'agent.log'),
    environment: await launcherEnvironment('agent'),
  })
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

async function make(site: RawClient, path: string, object: object): Promise<void> {
  const endMs = performance.now() + registeredMsMax
  for (;;) {
    const { status, body } = await site.send('POST', path, object)
    if (status === 201 || status === 409) return
    if (status !== 404 || performance.now() > endMs) {
      throw new Error(`Cannot make an object at ${path}: ${status} ${body.toString()}`)
    }
    await sleep(500)
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

/** Returns the number of all requests that the hub has answered. */
async function requestsOf(hub: RawClient): Promise<number> {
  const { body } = await hub.get('/metrics')
  const lines = body.toString().matchAll(/^apiserver_request_total\{[^}]*\} (\d+)/gm)
  return [...lines].reduce((sum, [, count]) => sum + Number(count), 0)
}
