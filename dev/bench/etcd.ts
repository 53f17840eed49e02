import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf, silentLogger } from '@skerry/base'
import { EtcdClient } from '../../packages/etcd-server/testing/etcd-client.ts'
import { findEtcd } from '../../roles/site/etcd/etcd-program.ts'
import { version } from '../../roles/runtime/version.ts'
import { bundleProgram } from '../build/bundle.ts'
import { defaultPeerCache, hasPrograms } from '../hack/upstream/build-peers.ts'
import { memoryOf } from '../processes/role-process.ts'
import { toolRate, toolWorks } from './etcd/benchmark-tool.ts'
import {
  creating,
  fanOutRate,
  keepAliveRate,
  putting,
  rateOf,
  reading,
  watchMs,
} from './etcd/loads.ts'
import { etcd, kine, ours, site, type StartSubject, type Subject } from './etcd/subjects.ts'
import { startSite } from './measure/api-subject.ts'
import { alone, beside, type BenchOptions, type Figure } from './measure/figure.ts'

const root = join(import.meta.dirname, '../..')
const measureMs = 2_000
const keys = 50_000
/** The engine gives memory back after half a minute. */
const settleMs = 40_000
const startedMs = 5_000
const filledMemory = 'etcd.memory.50000-keys'
/** The requests of one measurement by etcd's program, for each number of clients. */
const totals: Readonly<Record<number, number>> = { 1: 1_000, 64: 20_000 }
const peerNames = ['etcd', 'kine-full', 'kine']

interface Measure {
  readonly figure: string
  readonly unit: string
  readonly goal: number | null
  /** `at` is a prefix that nobody else uses. */
  readonly of: (subject: Subject, at: string) => Promise<number>
}

/** Subjects that are measured in turns, with the prefix of their figures. */
interface Pairing {
  readonly prefix: string
  readonly peer: StartSubject
  readonly measures: readonly Measure[]
  readonly hasMemory: boolean
}

/**
 * `skerry etcd` next to etcd and kine, in turns, on the same disk: values of 1 KiB, and writes that are durable when
 * they are answered, but for kine with its defaults. Rates by etcd's program `benchmark` if it is built, otherwise by
 * the client here, which takes a processor of its own. With `--only etcd` or `kine-full` or `kine`, these peers.
 */
export async function run(options: BenchOptions): Promise<Figure[]> {
  const { rounds, only = peerNames } = options
  await mkdir(join(root, '.cache'), { recursive: true })
  const home = await mkdtemp(join(root, '.cache', 'bench-etcd-'))
  try {
    const program = await bundleProgram({ outputDirectory: join(home, 'program'), version })
    const pairings = (await pairingsOf(options)).filter(({ name }) => only.includes(name))
    const figures: Figure[] = []
    for (const { name, pairing } of pairings) {
      const directory = join(home, name)
      // The figures of the other peers count without this one.
      const found = await measurePair(ours(program), pairing, { rounds, directory }).catch(
        (error: unknown) => {
          console.error(`${name} is not compared: ${messageOf(error)}`)
          return []
        },
      )
      figures.push(...found)
      await rm(directory, { recursive: true, force: true })
    }
    if (only.includes('etcd')) {
      const etcdAlone = figures.find(({ figure }) => figure === filledMemory)?.peer ?? NaN
      figures.push(...(await measureSite(program, join(home, 'site'), etcdAlone)))
    }
    return figures
  } finally {
    await rm(home, { recursive: true, force: true })
  }
}

async function pairingsOf({
  etcdProgram,
}: BenchOptions): Promise<readonly { name: string; pairing: Pairing }[]> {
  const bin = join(defaultPeerCache, 'bin')
  const isBuilt = await hasPrograms('etcd', bin)
  const tool = isBuilt ? join(bin, 'benchmark') : undefined
  const limit = AbortSignal.timeout(600_000)
  const cache = join(root, 'node_modules/.cache/etcd')
  const given = etcdProgram ?? (isBuilt ? join(bin, 'etcd') : undefined)
  const found = await findEtcd(given, cache, silentLogger, limit)
  console.error(`The peer is etcd ${found.version}; its benchmark is ${tool ?? 'not built'}`)
  const pairings = [
    {
      name: 'etcd',
      pairing: {
        prefix: 'etcd',
        peer: etcd(found.path),
        measures: [...ratesBy(tool), ...streams, create('etcd', null)],
        hasMemory: true,
      },
    },
  ]
  if (!(await hasPrograms('kine', bin))) {
    console.error('kine is not built: run node dev/hack/upstream/upstream.ts peers etcd kine')
    return pairings
  }
  const kinePair = (prefix: string, synchronous: 'NORMAL' | 'FULL', goal: number | null) => ({
    prefix: `etcd.${prefix}`,
    peer: kine(join(bin, 'kine'), synchronous),
    measures: [create(`etcd.${prefix}`, goal)],
    hasMemory: false,
  })
  return [
    ...pairings,
    { name: 'kine-full', pairing: kinePair('kine-full', 'FULL', 5) },
    { name: 'kine', pairing: kinePair('kine', 'NORMAL', null) },
  ]
}

/** kine serves no other writes than those of an API server, so it is compared by these. */
function create(prefix: string, goal: number | null): Measure {
  return rate(`${prefix}.create.64`, goal, 64, creating)
}

function ratesBy(tool: string | undefined): readonly Measure[] {
  return [1, 64].flatMap((clients) =>
    (['put', 'range', 'txn'] as const).map((name): Measure => {
      const goal = name === 'put' && clients === 64 ? 1 : null
      const figure = `etcd.${name}.${clients}`
      if (tool === undefined) return rate(figure, goal, clients, ownWorks[name])
      const load = { clients, total: totals[clients] ?? 0, work: toolWorks[name] }
      return { figure, unit: '1/s', goal, of: ({ endpoint }) => toolRate(tool, endpoint, load) }
    }),
  )
}

const ownWorks = {
  put: putting,
  range: () => reading('/filled', keys),
  txn: creating,
} as const

function rate(
  figure: string,
  goal: number | null,
  clients: number,
  work: (at: string) => Parameters<typeof rateOf>[1]['work'],
): Measure {
  return {
    figure,
    unit: '1/s',
    goal,
    of: ({ endpoint }, at) => rateOf(endpoint, { clients, measureMs, work: work(at) }),
  }
}

const streams: readonly Measure[] = [
  {
    figure: 'etcd.watch-event',
    unit: 'ms',
    goal: null,
    of: ({ endpoint }, at) => watchMs(endpoint, at),
  },
  {
    figure: 'etcd.watch-fan-out.50',
    unit: 'events/s',
    goal: null,
    of: ({ endpoint }, at) => fanOutRate(endpoint, at, { watches: 50, puts: 500 }),
  },
  {
    figure: 'etcd.lease-keepalive.64',
    unit: '1/s',
    goal: null,
    of: ({ endpoint }) => keepAliveRate(endpoint, { leases: 64, measureMs }),
  },
]

interface Side {
  readonly name: 'ours' | 'peer'
  readonly start: StartSubject
  readonly directory: string
}

type Found = Map<string, Record<'ours' | 'peer', number[]>>

async function measurePair(
  start: StartSubject,
  { prefix, peer, measures, hasMemory }: Pairing,
  { rounds, directory }: { rounds: number; directory: string },
): Promise<Figure[]> {
  const both: readonly Side[] = [
    { name: 'ours', start, directory: join(directory, 'ours') },
    { name: 'peer', start: peer, directory: join(directory, 'peer') },
  ]
  const found: Found = new Map()
  const note = (figure: string, { name }: Side, value: number): void => {
    const values = found.get(figure) ?? { ours: [], peer: [] }
    values[name].push(value)
    found.set(figure, values)
  }
  if (hasMemory) for (const side of both) await measureMemory(prefix, side, note)
  for (let round = 0; round < rounds; round += 1) {
    for (const side of both) {
      await using subject = await side.start(side.directory)
      note(`${prefix}.start`, side, subject.startMs)
      for (const { figure, of } of measures) {
        note(figure, side, await of(subject, `/${figure}-${round}`))
      }
    }
  }
  const figure = (name: string, unit: string, goal: number | null): Figure =>
    beside(name, { unit, ...(found.get(name) ?? { ours: [], peer: [] }), goal })
  return [
    ...measures.map((each) => figure(each.figure, each.unit, each.goal)),
    ...(hasMemory
      ? [
          figure(`${prefix}.start`, 'ms', null),
          figure(`${prefix}.memory.empty`, 'MB', null),
          figure(filledMemory, 'MB', 1.3),
        ]
      : []),
  ]
}

async function measureMemory(
  prefix: string,
  side: Side,
  note: (figure: string, side: Side, value: number) => void,
): Promise<void> {
  await using subject = await side.start(side.directory)
  await sleep(startedMs)
  note(`${prefix}.memory.empty`, side, (await memoryOf(subject.pid)).resident)
  await fill(subject)
  await sleep(settleMs)
  note(filledMemory, side, (await memoryOf(subject.pid)).resident)
}

/**
 * Measures the whole process of a site that serves etcd, before that has keys and once it has them, and by how much a
 * site without one is smaller. `etcdAlone` is the memory of an etcd with these keys.
 */
async function measureSite(
  program: string,
  directory: string,
  etcdAlone: number,
): Promise<Figure[]> {
  const without = await memoryOfPlainSite(program, join(directory, 'without'))
  await using subject = await site(program)(join(directory, 'with'))
  await sleep(settleMs)
  const before = (await memoryOf(subject.pid)).resident
  await fill(subject)
  await sleep(settleMs)
  const after = (await memoryOf(subject.pid)).resident
  const name = 'etcd.in-site.memory'
  const added = { unit: 'MB', ours: [after - without], peer: [etcdAlone], goal: 1 }
  return [
    alone(`${name}.empty`, 'MB', before, null),
    alone(`${name}.50000-keys`, 'MB', after, null),
    beside(`${name}.added`, added),
  ]
}

async function memoryOfPlainSite(program: string, directory: string): Promise<number> {
  await using subject = await startSite(program, { directory, isWhole: true })
  await sleep(settleMs)
  const [pid] = subject.pids
  if (pid === undefined) throw new Error('Cannot measure: the site has no process')
  return (await memoryOf(pid)).resident
}

/** Makes the keys that are read. */
async function fill({ endpoint }: Subject): Promise<void> {
  const put = putting('/filled')
  using client = new EtcdClient(endpoint)
  let next = 0
  const fillOn = async (): Promise<void> => {
    while (next < keys) await put(client, next++)
  }
  await Promise.all(Array.from({ length: 64 }, fillOn))
}
