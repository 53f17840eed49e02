import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { ExpectedError, exitCodes } from '@skerry/base'
import { version } from '../../roles/runtime/version.ts'
import { bundleProgram } from '../build/bundle.ts'
import { defaultKarmadaCache } from '../hack/upstream/karmada-build.ts'
import { alone, beside, median, type BenchOptions, type Figure } from './measure/figure.ts'
import {
  startHubPlane,
  startKarmadaPlane,
  type ControlPlane,
  type FleetPlace,
  type FleetSite,
  type StartControlPlane,
} from './fleet/control-plane.ts'
import { measurePropagation } from './fleet/propagation.ts'
import { expectSent } from './fleet/watched-objects.ts'
import { openRawClient } from '../processes/raw-client.ts'
import { memoryOf, processorMs } from '../processes/role-process.ts'

const root = join(import.meta.dirname, '../..')
const clusters = 100
const big = { nodes: 500, pods: 5_000 }
/** The size for which Karmada has published its agent's memory: 279 MB. */
const huge = { nodes: 5_000, pods: 20_000 }
const groups = 200
const agentsAtOnce = 2
const startMsMax = 600_000
/** The engine needs half a minute to return the memory that a burst took. */
const settleMs = 40_000
const observedMs = 30_000

type Values = Readonly<Record<string, number>>

interface Wanted {
  readonly unit: string
  readonly goal: number | null
}

const wanted: Readonly<Record<string, Wanted>> = {
  'applied.p50': { unit: 'ms', goal: null },
  'applied.p99': { unit: 'ms', goal: null },
  'applied.all': { unit: 'ms', goal: null },
  'status.p50': { unit: 'ms', goal: null },
  'status.p99': { unit: 'ms', goal: null },
  'control-plane.memory': { unit: 'MB', goal: null },
  'control-plane.memory.each-cluster': { unit: 'kB', goal: null },
  'control-plane.processor': { unit: 'ms per s', goal: null },
  'agent.memory': { unit: 'MB', goal: 0.5 },
  'agent.processor': { unit: 'ms per s', goal: 0.5 },
  'agent.memory.5000-nodes': { unit: 'MB', goal: 0.5 },
  'agent.processor.5000-nodes': { unit: 'ms per s', goal: 0.5 },
  'virtual.memory': { unit: 'MB', goal: 0.02 },
}

/** Measures a fleet of our hub and agents next to one of Karmada's, in turns. */
export async function run(options: BenchOptions): Promise<Figure[]> {
  const unknown = options.loads?.find((load) => !loadNames.some((name) => name === load))
  if (unknown !== undefined) {
    throw new ExpectedError(
      `Cannot measure load ${unknown}: there are ${loadNames.join(', ')}`,
      exitCodes.usage,
    )
  }
  await mkdir(join(root, '.cache'), { recursive: true })
  const parent = await mkdtemp(join(root, '.cache', 'bench-fleet-'))
  try {
    const program = await bundleProgram({ outputDirectory: join(parent, 'program'), version })
    const subjects = await subjectsOf()
    const values = new Map<string, Values[]>(subjects.map(([name]) => [name, []]))
    for (let round = 0; round < options.rounds; round += 1) {
      for (const [name, start] of subjects) {
        const place = {
          program,
          directory: join(parent, `${name}-${round}`),
          upstream: options.upstream,
          loads: options.loads,
        }
        values.get(name)?.push(await measureSubject(name, start, place))
      }
    }
    return figuresOf(values.get('ours') ?? [], values.get('karmada'))
  } finally {
    await rm(parent, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function subjectsOf(): Promise<[string, StartControlPlane][]> {
  const ours: [string, StartControlPlane] = ['ours', startHubPlane]
  try {
    await access(join(defaultKarmadaCache, 'bin', 'karmada-agent'))
  } catch {
    console.error(
      'Left out: karmada is not built; run node_modules/.bin/node dev/hack/karmada.ts works once',
    )
    return [ours]
  }
  return [ours, ['karmada', startKarmadaPlane]]
}

/** The names for `--loads`. If omitted, all. */
const loadNames = ['fleet', 'agent', '5000-nodes', 'virtual'] as const

async function measureSubject(
  name: string,
  start: StartControlPlane,
  { loads = loadNames, ...place }: FleetPlace & { readonly loads?: readonly string[] | undefined },
): Promise<Values> {
  await mkdir(place.directory, { recursive: true })
  const told = (values: Values): Values => {
    console.error(`${name}: ${JSON.stringify(values)}`)
    return values
  }
  const none: Values = {}
  await using plane = await start(place)
  const fleet = loads.includes('fleet') ? told(await measureFleet(plane)) : none
  const agent = loads.includes('agent')
    ? told(await measureBigCluster(plane, { name: 'big', ...big }))
    : none
  const most = loads.includes('5000-nodes')
    ? told(await measureBigCluster(plane, { name: 'huge', ...huge }))
    : none
  const { 'agents.each': each = NaN, ...rest } = fleet
  const virtual = name === 'ours' ? () => measureVirtual(plane) : async () => each * groups
  return {
    ...rest,
    ...agent,
    'agent.memory.5000-nodes': most['agent.memory'] ?? NaN,
    'agent.processor.5000-nodes': most['agent.processor'] ?? NaN,
    'virtual.memory': loads.includes('virtual') ? await virtual() : NaN,
  }
}

/** Measures a hundred clusters, each with its own agent. */
async function measureFleet(plane: ControlPlane): Promise<Values> {
  await using stack = new AsyncDisposableStack()
  const edges = stack.use(await startEdges(clusters, { nodes: 3, pods: 0 }))
  await sleep(settleMs)
  const before = await memoryOfAll(plane.pids)
  const sites = edges.kubeconfigs.map((kubeconfig, index) => ({
    name: `edge-${index}`,
    kubeconfig,
  }))
  const pids: number[] = []
  const waiting = [...sites]
  const startOne = (site: FleetSite) =>
    plane.startAgent(site).catch((error: unknown) => {
      waiting.length = 0
      throw error
    })
  const startSome = async (): Promise<void> => {
    for (let site = waiting.shift(); site !== undefined; site = waiting.shift()) {
      const agent = stack.use(await startOne(site))
      pids.push(agent.pid)
    }
  }
  const starts = await Promise.allSettled(Array.from({ length: agentsAtOnce }, startSome))
  // Waits for all of them, so that none starts another agent after the others are stopped.
  for (const start of starts) if (start.status === 'rejected') throw start.reason
  await untilReady(plane, clusters)
  const propagation = await measurePropagation(plane.client, sites)
  await sleep(settleMs)
  const during = await memoryOfAll(plane.pids)
  const processor = await atRest(plane.pids)
  return {
    ...propagation,
    'control-plane.memory': during,
    'control-plane.processor': processor,
    'control-plane.memory.each-cluster': ((during - before) * 1_000) / clusters,
    'agents.each': median(
      await Promise.all(pids.map(async (pid) => (await memoryOf(pid)).resident)),
    ),
  }
}

/** The agent of one cluster with many nodes and pods, at rest. */
async function measureBigCluster(
  plane: ControlPlane,
  { name, ...size }: { name: string; nodes: number; pods: number },
): Promise<Values> {
  await using edges = await startEdges(1, size)
  const [kubeconfig = ''] = edges.kubeconfigs
  await using agent = await plane.startAgent({ name, kubeconfig })
  await untilReady(plane, 1, name)
  await sleep(settleMs)
  const processor = await atRest([agent.pid])
  const { resident } = await memoryOf(agent.pid)
  return { 'agent.memory': resident, 'agent.processor': processor }
}

/** Milliseconds on processors in a second, of all of them. */
async function atRest(pids: readonly number[]): Promise<number> {
  const spent = async (): Promise<number> => {
    const each = await Promise.all(pids.map(processorMs))
    return each.reduce((sum, ms) => sum + ms, 0)
  }
  const beforeMs = await spent()
  await sleep(observedMs)
  return (((await spent()) - beforeMs) * 1_000) / observedMs
}

/** Measures one agent for two hundred groups of a cluster's nodes. */
async function measureVirtual(plane: ControlPlane): Promise<number> {
  await using edges = await startEdges(1, { nodes: groups, pods: 0 })
  const [kubeconfig = ''] = edges.kubeconfigs
  await using agent = await plane.startAgent({ name: 'bank', kubeconfig, hasVirtualClusters: true })
  await untilReady(plane, 1, 'bank')
  const site = await openRawClient(kubeconfig)
  for (let index = 0; index < groups; index += 1) {
    await expectSent(site, 'POST', '/apis/edge.skerry.io/v1alpha1/virtualclusters', {
      apiVersion: 'edge.skerry.io/v1alpha1',
      kind: 'VirtualCluster',
      metadata: { name: `g${index}` },
      spec: { nodeNames: [`node-${index}`] },
    })
  }
  site.close()
  await untilReady(plane, groups, 'bank-')
  await sleep(settleMs)
  return (await memoryOf(agent.pid)).resident
}

interface Edges extends AsyncDisposable {
  readonly kubeconfigs: readonly string[]
}

async function startEdges(
  count: number,
  { nodes, pods }: { nodes: number; pods: number },
): Promise<Edges> {
  const script = join(import.meta.dirname, 'fleet', 'edges.ts')
  const args = [
    '--disable-warning=ExperimentalWarning',
    script,
    ...[count, nodes, pods].map(String),
  ]
  // The child stops when its input ends, so it ends with this process in any case.
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })
  const signal = AbortSignal.timeout(startMsMax)
  // The output closed without a line; the reason is on stderr.
  const [line] = await Promise.race([once(lines, 'line', { signal }), once(lines, 'close')])
  if (line === undefined) throw new Error('Cannot measure: the edge clusters do not start')
  return {
    // edges.ts prints this type.
    kubeconfigs: JSON.parse(String(line)) as string[],
    async [Symbol.asyncDispose]() {
      const exited = once(child, 'exit')
      if (child.exitCode === null && child.kill()) await exited
    },
  }
}

/** Waits until that many clusters with this name prefix are ready. */
async function untilReady(
  { client }: ControlPlane,
  count: number,
  prefix = 'edge-',
): Promise<void> {
  const endMs = performance.now() + startMsMax
  for (;;) {
    const { body } = await client.get('/apis/cluster.karmada.io/v1alpha1/clusters')
    // A list of Clusters, as this path has it.
    const { items } = JSON.parse(body.toString()) as { items: ListedCluster[] }
    const ready = items.filter(
      ({ metadata, status }) =>
        metadata.name.startsWith(prefix) &&
        status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True'),
    )
    if (ready.length >= count) return
    if (performance.now() > endMs) {
      throw new Error(`Cannot measure: ${ready.length} of ${count} clusters are ready`)
    }
    await sleep(500)
  }
}

interface ListedCluster {
  readonly metadata: { readonly name: string }
  readonly status?: { readonly conditions?: readonly { type: string; status: string }[] }
}

async function memoryOfAll(pids: readonly number[]): Promise<number> {
  const each = await Promise.all(pids.map(async (pid) => (await memoryOf(pid)).resident))
  return each.reduce((sum, resident) => sum + resident, 0)
}

function figuresOf(ours: readonly Values[], peer: readonly Values[] | undefined): Figure[] {
  const measured = Object.entries(wanted).filter(([name]) =>
    ours.some((values) => Number.isFinite(values[name])),
  )
  return measured.map(([name, { unit, goal }]) => {
    const of = (all: readonly Values[]): number[] => all.map((values) => values[name] ?? NaN)
    if (peer === undefined) return alone(`fleet.${name}`, unit, median(of(ours)), null)
    return beside(`fleet.${name}`, { unit, ours: of(ours), peer: of(peer), goal })
  })
}
