import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ExpectedError, exitCodes, messageOf, silentLogger } from '@skerry/base'
import { createTestNetwork } from '@skerry/testing'
import { findEtcd } from '../../roles/site/etcd/etcd-program.ts'
import { version } from '../../roles/runtime/version.ts'
import { bundleProgram } from '../build/bundle.ts'
import { waitFor } from '../e2e/wait-for.ts'
import { memoryOf } from '../processes/role-process.ts'
import { etcdPid, startMasters, type BundledMaster, type Scene } from './ha/bundled-masters.ts'
import { measureFaults } from './ha/faults.ts'
import { startClients, type HaClients } from './ha/ha-clients.ts'
import { hasUpstream, startUpstreamMasters, type UpstreamMaster } from './ha/upstream-masters.ts'
import { alone, beside, median, type BenchOptions, type Figure } from './measure/figure.ts'

const root = join(import.meta.dirname, '../..')
/** The engine starts to give memory back after 30 s. */
const settleMs = 40_000
const objectCount = 1_000
const rateMs = 5_000
const clientHostNumber = 9
/** Three start at once: 24 s on two calm processors, and many times that on busy ones. */
const peerStartMsMax = 600_000

/** The figures with their goals; all are upper bounds. */
const measures = {
  'ha.memory.master.empty': { unit: 'MB', goal: 250 },
  'ha.memory.master.1000-objects': { unit: 'MB', goal: 250 },
  'ha.write-again.follower-killed': { unit: 'ms', goal: null },
  'ha.write-again.leader-killed': { unit: 'ms', goal: null },
  'ha.write-again.leader-silent': { unit: 'ms', goal: null },
  'ha.controllers.planned-stop': { unit: 'ms', goal: 5_000 },
  'ha.controllers.killed': { unit: 'ms', goal: 20_000 },
} as const

type Values = Record<keyof typeof measures, number>

/** The writes per second of three masters with one client, and with 64. */
interface Rates {
  readonly one: number
  readonly many: number
}

/** Measures three masters with an etcd that they run themselves, and kube-apiservers at the same etcd. */
export async function run(options: BenchOptions): Promise<Figure[]> {
  if (process.getuid?.() !== 0) {
    throw new ExpectedError(
      'Cannot measure: hosts of masters need root; run it with sudo',
      exitCodes.missingRight,
    )
  }
  const cache = join(root, 'node_modules', '.cache', 'etcd')
  const { path: etcd } = await findEtcd(
    undefined,
    cache,
    silentLogger,
    AbortSignal.timeout(600_000),
  )
  await mkdir(join(root, '.cache'), { recursive: true })
  const directory = await mkdtemp(join(root, '.cache', 'bench-ha-'))
  try {
    const program = await bundleProgram({ outputDirectory: join(directory, 'program'), version })
    const rounds = []
    for (let round = 0; round < options.rounds; round += 1) {
      const bundle = { program, etcd, directory: join(directory, `round-${round}`) }
      rounds.push(await measureRound(bundle, options))
      await rm(bundle.directory, { recursive: true })
    }
    return figuresOf(rounds)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

interface Round {
  readonly values: Values
  readonly ours: Rates
  /** Undefined if upstream's program was not built. */
  readonly peer: Rates | undefined
}

function figuresOf(rounds: readonly Round[]): Figure[] {
  const figures = Object.entries(measures).map(([name, { unit, goal }]) => {
    // The keys of `measures` are the names.
    const values = rounds.map(({ values: each }) => each[name as keyof Values])
    return alone(name, unit, median(values), goal)
  })
  return [
    ...figures,
    rateFigure('ha.create.1', 'one', rounds),
    rateFigure('ha.create.64', 'many', rounds),
  ]
}

function rateFigure(name: string, of: keyof Rates, rounds: readonly Round[]): Figure {
  const ours = rounds.map((round) => round.ours[of])
  const peer = rounds.flatMap((round) => (round.peer ? [round.peer[of]] : []))
  const unit = 'writes/s'
  if (peer.length === rounds.length) return beside(name, { unit, ours, peer, goal: 1 })
  return alone(name, unit, median(ours), null)
}

async function measureRound(bundle: Scene['bundle'], options: BenchOptions): Promise<Round> {
  // Programs start in other directories.
  const upstream = resolve(options.upstream)
  await mkdir(bundle.directory, { recursive: true })
  await using network = await createTestNetwork()
  await using clients = startClients(await network.addHost(clientHostNumber))
  const masters = await startMasters(network, bundle, clients)
  const scene = { masters, clients, bundle }
  const memory = await measureMemory(scene)
  const ours = await measureRates(
    masters.map(({ kubeconfig }) => kubeconfig),
    clients,
  )
  const hasPeer = await hasUpstream(upstream)
  if (!hasPeer) console.error(`No peer is measured: dev/hack/upstream builds it in ${upstream}`)
  // Our own figures count without it.
  const peer = hasPeer
    ? await measurePeer(upstream, scene).catch((error: unknown) => {
        console.error(`No peer is measured: ${messageOf(error)}`)
        return undefined
      })
    : undefined
  const faults = await measureFaults(scene)
  return { values: { ...memory, ...faults }, ours, peer }
}

async function measureMemory({ masters, clients }: Scene) {
  await sleep(settleMs)
  const empty = await largestMaster(masters)
  const [first] = masters
  if (!first) throw new Error('Cannot measure: no master runs')
  await clients.order({ do: 'fill', at: first.kubeconfig, count: objectCount, prefix: 'object' })
  await sleep(settleMs)
  return {
    'ha.memory.master.empty': empty,
    'ha.memory.master.1000-objects': await largestMaster(masters),
  }
}

/** Returns the resident memory of a site and its etcd, of the master that has most, in MB of 10^6 bytes. */
async function largestMaster(masters: readonly BundledMaster[]): Promise<number> {
  const each = masters.map(async (master) => {
    const pids = [master.role.pid, await etcdPid(master)]
    const memory = await Promise.all(pids.map(memoryOf))
    return memory.reduce((sum, { resident }) => sum + resident, 0)
  })
  return Math.max(...(await Promise.all(each)))
}

/** Each load follows a short run of itself, so that compilers and caches are warm. */
async function measureRates(at: readonly string[], clients: HaClients): Promise<Rates> {
  const rate = (count: number, forMs: number, prefix: string): Promise<number> =>
    clients.order({ do: 'rate', at, clients: count, forMs, prefix })
  await rate(64, 2_000, 'warm')
  return { one: await rate(1, rateMs, 'one'), many: await rate(64, rateMs, 'many') }
}

async function measurePeer(upstream: string, { masters, clients, bundle }: Scene): Promise<Rates> {
  await using peers = await startUpstreamMasters(upstream, masters, bundle.directory)
  for (const peer of peers.each) await untilPeerServes(peer, clients)
  const kubeconfigs = peers.each.map(({ kubeconfig }) => kubeconfig)
  const [first = ''] = kubeconfigs
  await clients.order({ do: 'fill', at: first, count: 1, prefix: 'object' })
  // The peers go with this scope.
  return await measureRates(kubeconfigs, clients)
}

async function untilPeerServes(
  { kubeconfig: at, isRunning, lastWords }: UpstreamMaster,
  clients: HaClients,
): Promise<void> {
  const ask = { do: 'ask', at, path: '/readyz' } as const
  const state = await waitFor(
    'kube-apiserver to serve',
    async () => {
      if (!isRunning()) return 'ended'
      return (await clients.order(ask)) === 200 ? 'serves' : undefined
    },
    { timeoutMs: peerStartMsMax, diagnose: lastWords },
  )
  if (state === 'ended') throw new Error(`kube-apiserver has ended: ${await lastWords()}`)
}
