import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { version } from '../../roles/runtime/version.ts'
import { bundleProgram } from '../build/bundle.ts'
import { createMany, createRate, readLatencies, percentile, timeLists } from './measure/api-load.ts'
import {
  requireBinaries,
  startSite,
  startUpstream,
  type ApiSubject,
  type SubjectOptions,
} from './measure/api-subject.ts'
import { beside, median, type BenchOptions, type Figure } from './measure/figure.ts'
import { memoryOf } from '../processes/role-process.ts'
import { measureHour } from './site-hour.ts'
import { watchLatencies } from './watch-fan-out.ts'

const root = join(import.meta.dirname, '../..')
/** The engine starts to give memory back after 30 s. */
const settleMs = 40_000
const podCount = 5_000

/** The values measured once per round and side. */
const measures = {
  'apiserver.start-to-readyz': { unit: 'ms', goal: 0.2 },
  'apiserver.memory.idle': { unit: 'MB', goal: 0.33 },
  'apiserver.create.1': { unit: 'writes/s', goal: 1 },
  'apiserver.create.64': { unit: 'writes/s', goal: 1.5 },
  'apiserver.get.p99.500-per-second': { unit: 'ms', goal: 1 },
  'apiserver.watch.p99.1000-watchers': { unit: 'ms', goal: 1 },
  'apiserver.memory.5000-pods': { unit: 'MB', goal: 0.33 },
  'apiserver.list.5000-pods': { unit: 'ms', goal: 0.5 },
  'site.hour.cpu': { unit: 's', goal: 1 },
} as const

type Name = keyof typeof measures
type Values = Record<Name, number>
type Start = (options: SubjectOptions) => Promise<ApiSubject>

/** Measures a site's API server next to kube-apiserver with etcd, in turns; the hour with all controllers. */
export async function run(options: BenchOptions): Promise<Figure[]> {
  await requireBinaries(options.upstream)
  await mkdir(join(root, '.cache'), { recursive: true })
  const directory = await mkdtemp(join(root, '.cache', 'bench-apiserver-'))
  try {
    const program = await bundleProgram({ outputDirectory: join(directory, 'program'), version })
    const starts: Record<'ours' | 'peer', Start> = {
      ours: (subject) => startSite(program, subject),
      peer: (subject) => startUpstream(options.upstream, subject),
    }
    const rounds: Record<'ours' | 'peer', Values[]> = { ours: [], peer: [] }
    for (let round = 0; round < options.rounds; round += 1) {
      for (const side of ['ours', 'peer'] as const) {
        const home = join(directory, `${side}-${round}`)
        rounds[side].push(await measureSide(starts[side], home))
        await rm(home, { recursive: true })
      }
    }
    return figuresOf(rounds)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

function figuresOf(rounds: Record<'ours' | 'peer', Values[]>): Figure[] {
  return Object.entries(measures).map(([name, { unit, goal }]) => {
    // The keys of `measures` are the names.
    const values = (side: 'ours' | 'peer') => rounds[side].map((each) => each[name as Name])
    return beside(name, { unit, goal, ours: values('ours'), peer: values('peer') })
  })
}

async function measureSide(start: Start, directory: string): Promise<Values> {
  const api = { directory: join(directory, 'api'), isWhole: false }
  // The first start makes keys and fills caches.
  await (await start(api))[Symbol.asyncDispose]()
  const requests = await measureRequests(() => start(api))
  const pods = await measurePods(() => start({ ...api, directory: join(directory, 'pods') }))
  await using whole = await start({ directory: join(directory, 'whole'), isWhole: true })
  return { ...requests, ...pods, 'site.hour.cpu': await measureHour(whole) }
}

async function measureRequests(start: () => Promise<ApiSubject>) {
  await using subject = await start()
  const { client } = subject
  await sleep(settleMs)
  const idle = await memory(subject)
  await client.send('POST', '/api/v1/namespaces', namespace('bench'))
  // Each load follows a short run of itself, so that compilers and caches are warm.
  await createRate(client, { clients: 64, forMs: 1_500, prefix: 'warm' })
  const one = await createRate(client, { clients: 1, forMs: 3_000, prefix: 'one' })
  const many = await createRate(client, { clients: 64, forMs: 3_000, prefix: 'many' })
  await readLatencies(client, { perSecond: 500, forMs: 1_000 })
  const reads = await readLatencies(client, { perSecond: 500, forMs: 5_000 })
  const watches = await watchLatencies(client, { watchers: 1_000, perSecond: 200, forMs: 3_000 })
  return {
    'apiserver.start-to-readyz': subject.readyMs,
    'apiserver.memory.idle': idle,
    'apiserver.create.1': one,
    'apiserver.create.64': many,
    'apiserver.get.p99.500-per-second': percentile(reads, 99),
    'apiserver.watch.p99.1000-watchers': percentile(watches, 99),
  }
}

async function measurePods(start: () => Promise<ApiSubject>) {
  await using subject = await start()
  const { client } = subject
  await client.send('POST', '/api/v1/namespaces', namespace('bench'))
  await createMany(client, podCount)
  await sleep(settleMs)
  const full = await memory(subject)
  const lists = await timeLists(client, { path: '/api/v1/pods', count: 12, entries: podCount })
  return {
    'apiserver.memory.5000-pods': full,
    'apiserver.list.5000-pods': median(lists.slice(2)),
  }
}

function namespace(name: string) {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
}

/** Returns the resident memory of all the subject's processes, in MB of 10^6 bytes. */
async function memory({ pids }: ApiSubject): Promise<number> {
  const each = await Promise.all(pids.map(memoryOf))
  return each.reduce((sum, { resident }) => sum + resident, 0)
}
