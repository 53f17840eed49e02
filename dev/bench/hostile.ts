import { access, cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ExpectedError, exitCodes } from '@skerry/base'
import { version } from '../../roles/runtime/version.ts'
import { bundleProgram } from '../build/bundle.ts'
import { startSite, startUpstream, type ApiSubject } from './measure/api-subject.ts'
import { alone, type BenchOptions, type Figure } from './measure/figure.ts'
import { prepareAttack } from './hostile/attacked-namespace.ts'
import { attacks } from './hostile/attacks.ts'
import { openTarget, type Measured, type Target } from './hostile/measure-attack.ts'

const root = join(import.meta.dirname, '../..')
const waitGoalMs = 250
const memoryGoalMegabytes = 200
/** The engine starts to give memory back after 30 s, so idle memory is measured later than that. */
const settleMs = 35_000
/** The pause between two attacks on one server, in which it finishes the work of the first. */
const restMs = 500
/** So many servers settle together, and then each is attacked in its turn. Idle servers take no time from it. */
const serversAtOnce = 8

interface MeasuredAll {
  readonly attacks: ReadonlyMap<string, Measured>
  /** The memory above idle that one server keeps after all attacks in a row, once it is calm. */
  readonly leftMegabytes: number
}

/**
 * Measures how long other users wait, and how much memory the server takes above idle, while one user sends the
 * dearest requests there are: each attack against a server of its own.
 */
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
    const ours = await measureAll(names, join(directory, 'ours'), (at) =>
      startSite(program, { directory: at, isWhole: false }),
    )
    const peer = (await hasUpstream(options.upstream))
      ? await measureAll(names, join(directory, 'peer'), (at) =>
          startUpstream(options.upstream, { directory: at, isWhole: false }),
        )
      : undefined
    const figures = figuresOf(ours, peer)
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

function figuresOf(ours: MeasuredAll, peer: MeasuredAll | undefined): Figure[] {
  const figures = [...ours.attacks].flatMap(([name, own]) => {
    const theirs = peer?.attacks.get(name)
    return [
      withPeer(alone(`hostile.${name}.p99`, 'ms', own.waitMs, waitGoalMs), theirs?.waitMs),
      withPeer(
        alone(`hostile.${name}.memory`, 'MB', own.megabytes, memoryGoalMegabytes),
        theirs?.megabytes,
      ),
    ]
  })
  const left = alone('hostile.memory-left', 'MB', ours.leftMegabytes, null)
  return [...figures, withPeer(left, peer?.leftMegabytes)]
}

/** The goal stays one of our own value. */
function withPeer(figure: Figure, theirs: number | undefined): Figure {
  if (theirs === undefined) return figure
  const round = (value: number): number => Math.round(value * 10) / 10
  return { ...figure, peer: round(theirs), ratio: round(figure.ours / theirs) }
}

type Start = (directory: string) => Promise<ApiSubject>

async function measureAll(
  names: readonly string[],
  directory: string,
  start: Start,
): Promise<MeasuredAll> {
  const prepared = join(directory, 'prepared')
  const tokens = await prepare(prepared, start)
  /** Starts a server on a copy of the data, which is prepared once. */
  const open = async (name: string): Promise<Target> => {
    const own = join(directory, name)
    await cp(prepared, own, { recursive: true })
    return openTarget(await start(own), tokens)
  }
  const measured = new Map<string, Measured>()
  for (let from = 0; from < names.length; from += serversAtOnce) {
    const some = names.slice(from, from + serversAtOnce)
    await using opened = new AsyncDisposableStack()
    const targets: [string, Target][] = []
    for (const name of some) targets.push([name, opened.use(await open(name))])
    await sleep(settleMs)
    for (const [name, target] of targets) measured.set(name, await measureAlone(name, target))
  }
  return { attacks: measured, leftMegabytes: await measureLeft(names, await open('all')) }
}

async function prepare(directory: string, start: Start): Promise<string[]> {
  await using subject = await start(directory)
  const tokens = await prepareAttack(subject.client)
  return tokens
}

async function measureAlone(name: string, target: Target): Promise<Measured> {
  const idle = await target.resident()
  const { waitMs, megabytes } = await target.measure(name)
  console.error(
    `${name}: ${Math.round(waitMs)} ms, ${Math.round(megabytes - idle)} MB above ${Math.round(idle)}`,
  )
  return { waitMs, megabytes: megabytes - idle }
}

/** Returns the memory above idle that one server keeps after these attacks in a row, once it is calm. */
async function measureLeft(names: readonly string[], opened: Target): Promise<number> {
  await using target = opened
  await sleep(settleMs)
  const idle = await target.resident()
  for (const name of names) {
    await target.measure(name)
    await sleep(restMs)
  }
  await sleep(settleMs)
  return (await target.resident()) - idle
}
