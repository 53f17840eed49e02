import { fork } from 'node:child_process'
import { once } from 'node:events'
import { access, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { loadKubeconfig } from '@skerry/client'
import { ExpectedError, exitCodes, systemClock } from '@skerry/base'
import { version } from '../../roles/runtime/version.ts'
import { bundleProgram } from '../build/bundle.ts'
import { atRate, percentile } from './api-load.ts'
import { startSite, startUpstream, type ApiSubject } from './api-subject.ts'
import type { BenchOptions, Figure } from './figure.ts'
import { prepareAttack } from './hostile/attacked-namespace.ts'
import { attacks } from './hostile/attacks.ts'
import { openRawClient, type RawClient } from './raw-client.ts'
import { memoryOf } from './role-process.ts'

const root = join(import.meta.dirname, '../..')
const attackMs = 2_000
/** The honest users' own address: handshakes from one address take turns, and the attackers have another. */
const honestAddress = '127.0.0.2'
/** A request that has no answer after this time counts as refused, so that each attack ends. */
const answerMsMax = 10_000
/** The number of honest requests per second; half of them are writes. */
const perSecond = 25
const waitGoalMs = 250
const memoryGoalMegabytes = 200
const memoryLookMs = 50
/** The engine starts to give memory back after 30 s, so idle memory is measured later than that. */
const settleMs = 35_000
/** A request that was refused or broke off counts as one that waited this long. */
const refusedMs = 60_000
/** The pause between two attacks, in which the server finishes the work of the first. */
const restMs = 500

interface Measured {
  readonly waitMs: number
  readonly megabytes: number
}

/** Measures how long other users wait, and how much memory the server takes, while one user sends the dearest requests there are. */
export async function run(options: BenchOptions): Promise<Figure[]> {
  const names = options.loads ?? Object.keys(attacks)
  const unknown = names.find((name) => !(name in attacks))
  if (unknown !== undefined) {
    const text = `Cannot measure attack "${unknown}": no attack has this name; choose from ${Object.keys(attacks).join(', ')}`
    throw new ExpectedError(text, exitCodes.usage)
  }
  await mkdir(join(root, '.cache'), { recursive: true })
  const directory = await mkdtemp(join(root, '.cache', 'bench-hostile-'))
  try {
    const program = await bundleProgram({ outputDirectory: join(directory, 'program'), version })
    const start = (name: string) => ({ directory: join(directory, name), isWhole: false })
    const ours = await measureAll(await startSite(program, start('ours')), names)
    const peer = (await hasUpstream(options.upstream))
      ? await measureAll(await startUpstream(options.upstream, start('peer')), names)
      : new Map<string, Measured>()
    const figures = names.flatMap((name) => figuresOf(name, ours.get(name), peer.get(name)))
    const beyond = figures.filter(({ ours: own, goal }) => goal !== null && own > goal)
    const text = beyond.map(({ figure, ours: own, unit }) => `${figure} ${own} ${unit}`).join(', ')
    console.error(`${names.length} attacks; ${beyond.length} figures beyond their goals: ${text}`)
    return figures
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

async function hasUpstream(directory: string): Promise<boolean> {
  return access(join(directory, 'kube-apiserver')).then(
    () => true,
    () => false,
  )
}

function figuresOf(name: string, ours?: Measured, peer?: Measured): Figure[] {
  if (!ours) return []
  const figure = (
    what: string,
    unit: string,
    read: (of: Measured) => number,
    goal: number,
  ): Figure => {
    const [own, theirs] = [round(read(ours)), peer ? round(read(peer)) : null]
    const ratio = theirs === null ? null : round(own / theirs)
    return { figure: `hostile.${name}.${what}`, unit, ours: own, peer: theirs, ratio, goal }
  }
  return [
    figure('p99', 'ms', ({ waitMs }) => waitMs, waitGoalMs),
    figure('memory', 'MB', ({ megabytes }) => megabytes, memoryGoalMegabytes),
  ]
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

async function measureAll(
  subject: ApiSubject,
  names: readonly string[],
): Promise<Map<string, Measured>> {
  await using started = subject
  const { client, kubeconfig } = started
  const tokens = await prepareAttack(client)
  const { transport } = await loadKubeconfig(
    kubeconfig,
    {},
    { clock: systemClock, environment: {} },
  )
  const other = await openRawClient(kubeconfig, { localAddress: honestAddress })
  using _closed = { [Symbol.dispose]: () => other.close() }
  // Warms compilers and caches.
  await honest(other, 'warm', 2_000)
  await sleep(settleMs)
  const idle = await resident(started)
  const measured = new Map<string, Measured>()
  for (const name of names) {
    const found = await measureOne(name, {
      subject: started,
      other,
      server: transport.server,
      tokens,
    })
    measured.set(name, { ...found, megabytes: found.megabytes - idle })
    await sleep(restMs)
  }
  return measured
}

interface AttackedSubject {
  readonly subject: ApiSubject
  /** The honest user's. */
  readonly other: RawClient
  readonly server: string
  readonly tokens: readonly string[]
}

async function measureOne(
  name: string,
  { subject, other, server, tokens }: AttackedSubject,
): Promise<Measured & { megabytes: number }> {
  const attacker = fork(
    join(import.meta.dirname, 'hostile', 'attacker.ts'),
    [name, server, ...tokens],
    {
      execArgv: ['--disable-warning=ExperimentalWarning'],
    },
  )
  const outcomes = new Map<string, number>()
  attacker.on('message', (message) => {
    const outcome = JSON.stringify(message)
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
  })
  let megabytes = 0
  const looking = new AbortController()
  const looks = (async () => {
    while (!looking.signal.aborted) {
      megabytes = Math.max(megabytes, await resident(subject))
      await sleep(memoryLookMs)
    }
  })()
  try {
    // The attacker prepares its body first.
    await sleep(1_000)
    const waits = await honest(other, name, attackMs)
    return { waitMs: percentile(waits, 99), megabytes }
  } finally {
    looking.abort()
    await looks
    if (attacker.exitCode === null) {
      const ended = once(attacker, 'exit')
      attacker.kill('SIGKILL')
      await ended
    }
    console.error(`${name}: answers ${JSON.stringify(Object.fromEntries(outcomes))}`)
  }
}

/**
 * Sends requests at a fixed rate, as a user who reads and writes a little, and returns how many milliseconds
 * each one took.
 */
async function honest(client: RawClient, prefix: string, forMs: number): Promise<number[]> {
  const path = '/api/v1/namespaces/honest/configmaps'
  const readPath = '/api/v1/namespaces/honest'
  return atRate({ perSecond, forMs }, async (plannedMs, index) => {
    const metadata = { name: `${prefix.toLowerCase()}-${index}` }
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'a' } }
    const answer = index % 2 === 0 ? client.send('POST', path, object) : client.get(readPath)
    const status = await Promise.race([
      answer.then(
        (answered) => answered.status,
        () => 0,
      ),
      sleep(answerMsMax, 0, { ref: false }),
    ])
    if (status !== 200 && status !== 201) return refusedMs
    return performance.now() - plannedMs
  })
}

async function resident({ pids }: ApiSubject): Promise<number> {
  const each = await Promise.all(pids.map(memoryOf))
  return each.reduce((sum, memory) => sum + memory.resident, 0)
}
