import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { ExpectedError, exitCodes } from '@skerry/base'
import { version } from '../../roles/runtime/version.ts'
import { bundleProgram } from '../build/bundle.ts'
import { defaultPeerCache, hasPrograms } from '../hack/upstream/build-peers.ts'
import { alone, beside, median, type BenchOptions, type Figure } from './measure/figure.ts'
import { freePort } from '../processes/free-port.ts'
import { measureIdleTunnels } from './tunnel/idle-tunnels.ts'
import { loadNames, type Values } from './tunnel/loads.ts'
import { subjects } from './tunnel/peers.ts'
import type { SideTask } from './tunnel/side.ts'
import { cloudAddress, createLinkNetwork, edgeAddress } from '@skerry/testing'

const root = join(import.meta.dirname, '../..')
const sideMsMax = 300_000

type Measure = SideTask['measure']

const everyMeasure: readonly Measure[] = ['loopback', 'link', 'stalled', 'cut']

interface Wanted {
  readonly unit: string
  /** The goals of the ratio to each peer, by place. */
  readonly goals?: Readonly<Record<string, number>>
}

const loads: Readonly<Record<string, Wanted>> = {
  connect: { unit: 'ms' },
  down: {
    unit: 'MB/s',
    goals: {
      'loopback.direct': 0.5,
      'link.direct': 0.9,
      'loopback.konnectivity': 1,
      'loopback.konnectivity-grpc': 1,
    },
  },
  up: {
    unit: 'MB/s',
    goals: {
      'loopback.direct': 0.5,
      'link.direct': 0.9,
      'loopback.konnectivity': 1,
      'loopback.konnectivity-grpc': 1,
    },
  },
  'down.processor.cloud': { unit: 'ms a MB' },
  'down.processor.edge': { unit: 'ms a MB' },
  'up.processor.cloud': { unit: 'ms a MB' },
  'up.processor.edge': { unit: 'ms a MB' },
  'rate.1': { unit: 'requests/s' },
  'p50.1': { unit: 'ms' },
  'p99.1': { unit: 'ms' },
  'rate.1.processor.cloud': { unit: 'µs each' },
  'rate.1.processor.edge': { unit: 'µs each' },
  'rate.100': {
    unit: 'requests/s',
    goals: { 'loopback.konnectivity': 2, 'loopback.konnectivity-grpc': 2 },
  },
  'rate.100.processor.cloud': { unit: 'µs each' },
  'rate.100.processor.edge': { unit: 'µs each' },
  'p50.100': { unit: 'ms' },
  'p99.100': { unit: 'ms' },
  'behind.p50': { unit: 'ms' },
  'behind.p99': {
    unit: 'ms',
    goals: Object.fromEntries(
      ['loopback', 'link'].flatMap((where) => [
        [`${where}.konnectivity`, 0.1],
        [`${where}.konnectivity-grpc`, 0.1],
      ]),
    ),
  },
}

const wanted: Readonly<Record<Measure, Readonly<Record<string, Wanted>>>> = {
  loopback: loads,
  link: loads,
  stalled: { 'stalled-memory': { unit: 'MB' } },
  cut: {
    'dead-link.cloud': { unit: 's' },
    'dead-link.edge': { unit: 's' },
    recovery: { unit: 's' },
  },
}

/** The goals of our own value, where there is no peer. */
const ownGoals: Readonly<Record<string, number>> = {
  'dead-link.cloud': 30,
  'dead-link.edge': 30,
  recovery: 2,
}

/** The measures of subjects that are not tunnels; the relays show what the machine can do. */
const measuresOfOthers: Readonly<Record<string, ReadonlySet<Measure>>> = {
  direct: new Set(['loopback', 'link']),
  relay: new Set(['loopback']),
}

/** Measures hub and agent next to other tunnels, all with the same client and target, in turns. */
export async function run(options: BenchOptions): Promise<Figure[]> {
  const { getuid } = process
  if (getuid?.() !== 0) {
    throw new ExpectedError(
      'Cannot measure: the link needs network namespaces and root; run it with sudo',
      exitCodes.missingRight,
    )
  }
  const peers = await peersOf(options.only)
  const unknown = options.loads?.find((name) => !loadNames.includes(name))
  if (unknown !== undefined) {
    throw new ExpectedError(
      `Cannot measure load ${unknown}: there are ${loadNames.join(', ')}`,
      exitCodes.usage,
    )
  }
  // A run of selected loads should be short: on loopback only.
  const measures = options.loads ? (['loopback'] as const) : everyMeasure
  await mkdir(join(root, '.cache'), { recursive: true })
  const directory = await mkdtemp(join(root, '.cache', 'bench-tunnel-'))
  try {
    const program = await bundleProgram({ outputDirectory: join(directory, 'program'), version })
    const values = new Map<string, number[]>()
    for (let round = 0; round < options.rounds; round += 1) {
      for (const measure of measures) {
        for (const subject of ['ours', ...peers]) {
          if (measuresOfOthers[subject]?.has(measure) === false) continue
          const home = join(directory, `${measure}-${subject}-${round}`)
          const side = { subject, measure, program, directory: home }
          const found = await measureSide({
            ...side,
            ...(options.loads ? { loads: options.loads } : {}),
          })
          for (const [name, value] of Object.entries(found)) {
            const key = `${measure}/${subject}/${name}`
            values.set(key, [...(values.get(key) ?? []), value])
          }
        }
      }
    }
    const idle = options.loads ? [] : await measureIdleTunnels(directory)
    return [...figuresOf(values, peers), ...idle]
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** Returns the peers that are built; prints the names of the others. */
async function peersOf(only: readonly string[] | undefined): Promise<string[]> {
  const known = Object.keys(subjects).filter((name) => name !== 'ours')
  const unknown = only?.find((name) => !known.includes(name))
  if (unknown !== undefined) {
    throw new ExpectedError(
      `Cannot compare with ${unknown}: there are ${known.join(', ')}`,
      exitCodes.usage,
    )
  }
  const found: string[] = []
  for (const name of only ?? known) {
    // One peer may be measured in several of its modes.
    const [peer = ''] = name.split('-')
    const isOurs = name in measuresOfOthers
    if (isOurs || (await hasPrograms(peer, join(defaultPeerCache, 'bin')))) found.push(name)
    else
      console.error(
        `Left out: ${name} is not built; run node_modules/.bin/node dev/hack/upstream/upstream.ts peers`,
      )
  }
  return found
}

type Side = Pick<SideTask, 'subject' | 'measure' | 'program' | 'directory' | 'loads'>

async function measureSide(side: Side): Promise<Values> {
  const isFar = side.measure === 'link' || side.measure === 'cut'
  await using network = isFar ? await createLinkNetwork() : undefined
  const local = '127.0.0.1'
  const task: SideTask = {
    ...side,
    bin: join(defaultPeerCache, 'bin'),
    cloudAddress: network ? cloudAddress : local,
    edgeAddress: network ? edgeAddress : local,
    edge: network?.edge ?? [],
    linkPid: network?.linkPid ?? 0,
    targetPort: await freePort(),
  }
  const script = join(import.meta.dirname, 'tunnel', 'side.ts')
  const node = [process.execPath, '--disable-warning=ExperimentalWarning', script]
  const [file, ...args] = [...(network?.cloud ?? []), ...node, JSON.stringify(task)]
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const timer = setTimeout(() => child.kill('SIGKILL'), sideMsMax)
  const [output] = await Promise.all([text(child.stdout), once(child, 'exit')])
  clearTimeout(timer)
  if (child.exitCode !== 0) {
    throw new Error(`Cannot measure ${side.subject}: see ${side.directory}/*.log`)
  }
  // side.ts prints this type.
  return JSON.parse(output) as Values
}

function figuresOf(values: ReadonlyMap<string, number[]>, peers: readonly string[]): Figure[] {
  const figures: Figure[] = []
  for (const [measure, names] of Object.entries(wanted)) {
    for (const [name, { unit, goals = {} }] of Object.entries(names)) {
      const ours = values.get(`${measure}/ours/${name}`) ?? []
      // No subject was measured, because the load was not selected.
      if (ours.length === 0) continue
      const title = `tunnel.${measure}.${name}`
      const goal = ownGoals[name] ?? null
      const isOwn = goal !== null || name.includes('.processor.')
      if (isOwn) figures.push(alone(title, unit, median(ours), goal))
      for (const peer of peers) {
        const theirs = values.get(`${measure}/${peer}/${name}`)
        if (theirs === undefined) continue
        const pair = { unit, ours, peer: theirs, goal: goals[`${measure}.${peer}`] ?? null }
        figures.push(beside(`${title} / ${peer}`, pair))
      }
    }
  }
  return figures
}
