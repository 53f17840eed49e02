import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ExpectedError, exitCodes } from '@skerry/base'
import { version } from '../../roles/runtime/version.ts'
import { bundleProgram } from '../build/bundle.ts'
import { alone, type BenchOptions, type Figure } from './measure/figure.ts'
import { freePort } from '../processes/free-port.ts'
import { openRawClient, type RawClient } from '../processes/raw-client.ts'
import {
  memoryOf,
  processorMs,
  startRoleProcess,
  type RoleProcess,
} from '../processes/role-process.ts'
import {
  agentName,
  startAgentFleet,
  writeAgentCertificates,
  type AgentFleet,
} from './tunnel/agent-fleet.ts'

const root = join(import.meta.dirname, '../..')
const agentsMax = 10_000
const agentsMin = 100
/** The files that a hub has open in addition to its tunnels, and those of the rest of the process. */
const otherFiles = 1_000
const openMsMax = 300_000
/** The engine gives back what a burst took after half a minute. */
const settleMs = 40_000
const askEachMs = 100
const askMsMax = 60_000

/** Measures how all agents of a hub return after it was killed, and what its users notice meanwhile. */
export async function run(_options: BenchOptions): Promise<Figure[]> {
  const count = agentCount()
  await mkdir(join(root, '.cache'), { recursive: true })
  const directory = await mkdtemp(join(root, '.cache', 'bench-hub-reconnect-'))
  try {
    const program = await bundleProgram({ outputDirectory: join(directory, 'program'), version })
    const hub = { program, directory, port: await freePort() }
    return await measure(hub, count)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** Returns as many agents as the hub's limit of open files allows, up to the design's number. */
function agentCount(): number {
  const files = Number(execFileSync('sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }))
  const count = Number.isNaN(files) ? agentsMax : Math.min(agentsMax, files - otherFiles)
  if (count >= agentsMin) return count
  const text = `Cannot measure: ${files} files may be open, which is too few; ulimit -n 20000`
  throw new ExpectedError(text, exitCodes.usage)
}

interface HubPlace {
  readonly program: string
  readonly directory: string
  readonly port: number
}

function startHub({ program, directory, port }: HubPlace): Promise<RoleProcess> {
  const args = ['--data-dir', join(directory, 'hub'), '--bind-address', '127.0.0.1']
  return startRoleProcess({
    program,
    role: 'hub',
    args: [...args, '--port', String(port)],
    directory,
    compileCache: join(directory, 'compile-cache'),
  })
}

async function measure(place: HubPlace, count: number): Promise<Figure[]> {
  const data = join(place.directory, 'hub')
  const kubeconfig = join(data, 'admin.kubeconfig')
  const file = join(place.directory, 'certificates.json')
  await using first = await startHub(place)
  await makeClusters(kubeconfig, count)
  await writeAgentCertificates(data, { path: file, count })
  await sleep(settleMs)
  const before = await memoryOf(first.pid)
  await using fleet = startAgentFleet(`https://127.0.0.1:${place.port}`, file, count)
  await fleet.until((open) => open === count, openMsMax)
  await sleep(settleMs)
  const during = await memoryOf(first.pid)
  const kilobytes = ((during.resident - before.resident) * 1_000) / count
  fleet.mark()
  // This is like a power failure, except for the packets that report the end.
  process.kill(first.pid, 'SIGKILL')
  const killedMs = Date.now()
  await fleet.until((open) => open === 0, openMsMax)
  await using second = await startHub(place)
  const startedMs = await processorMs(second.pid)
  const back = await comeBack(fleet, { kubeconfig, count })
  const greetingMs = ((await processorMs(second.pid)) - startedMs) / count
  const figure = (name: string, unit: string, value: number, goal: number | null = null): Figure =>
    alone(`hub-reconnect.${name}`, unit, value, goal)
  const peak = await memoryOf(second.pid)
  return [
    figure('agents', 'agents', count, agentsMax),
    figure('idle-tunnel.memory', 'kB each', kilobytes),
    figure('hub-ready', 's after the kill', (back.readyMs - killedMs) / 1_000),
    figure('back.50', 's after that', back.secondsAt(0.5)),
    figure('back.99', 's after that', back.secondsAt(0.99)),
    figure('back.100', 's after that', back.secondsAt(1)),
    figure('dials', 'each agent', back.dials / count),
    figure('processor', 'ms of the hub, each agent', greetingMs),
    figure('user.p50', 'ms', quantile(back.askedMs, 0.5)),
    figure('user.p99', 'ms', quantile(back.askedMs, 0.99)),
    figure('user.refused', 'requests', back.refused),
    figure('hub.memory', 'MB when all are back', peak.resident),
  ]
}

async function makeClusters(kubeconfig: string, count: number): Promise<void> {
  const client = await openRawClient(kubeconfig)
  const path = '/apis/cluster.karmada.io/v1alpha1/clusters'
  let next = 0
  const makeSome = async (): Promise<void> => {
    while (next < count) {
      const name = agentName(next)
      next += 1
      const { status, body } = await client.send('POST', path, {
        apiVersion: 'cluster.karmada.io/v1alpha1',
        kind: 'Cluster',
        metadata: { name },
        spec: { syncMode: 'Pull' },
      })
      if (status !== 201) throw new Error(`Cannot make cluster ${name}: ${body.toString()}`)
    }
  }
  await Promise.all(Array.from({ length: 32 }, makeSome))
  client.close()
}

interface Return {
  readonly readyMs: number
  /** Returns when that share of the agents was connected again, in seconds since the hub served. */
  secondsAt(share: number): number
  readonly dials: number
  /** The times of a user's first request on a new connection, until the answer. */
  readonly askedMs: readonly number[]
  readonly refused: number
}

async function comeBack(
  fleet: AgentFleet,
  { kubeconfig, count }: { kubeconfig: string; count: number },
): Promise<Return> {
  const readyMs = Date.now()
  const asked: { ms: number; status: number }[] = []
  let isOver = false
  const asking = (async () => {
    const questions: Promise<void>[] = []
    while (!isOver) {
      questions.push(askOnce(kubeconfig).then((one) => void asked.push(one)))
      await sleep(askEachMs)
    }
    await Promise.all(questions)
  })()
  try {
    await fleet.until((open) => open === count, openMsMax)
  } finally {
    isOver = true
    await asking
  }
  await sleep(1_000)
  const reports = fleet.reports()
  const times = reports.flatMap(({ backAtMs }) => backAtMs).toSorted((a, b) => a - b)
  return {
    readyMs,
    secondsAt: (share) => ((times[Math.ceil(share * times.length) - 1] ?? 0) - readyMs) / 1_000,
    dials: reports.reduce((sum, { dials }) => sum + dials, 0),
    askedMs: asked.map(({ ms }) => ms),
    refused: asked.filter(({ status }) => status !== 200).length,
  }
}

/** Asks over a new connection: TCP, TLS, authentication, and the answer. */
async function askOnce(kubeconfig: string): Promise<{ ms: number; status: number }> {
  const client: RawClient = await openRawClient(kubeconfig)
  const startMs = performance.now()
  const late = sleep(askMsMax).then(() => ({ status: 504 }))
  const { status } = await Promise.race([
    client.get('/api/v1/namespaces/default').catch(() => ({ status: 0 })),
    late,
  ])
  client.close()
  return { ms: performance.now() - startMs, status }
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
}
