import { access, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { seededRandom } from '@skerry/base'
import { diskHistory, type DiskHistory, type DiskStep } from './disk-history.ts'
import { layOut, SimulatedDisk } from './simulated-disk.ts'
import { traceSystemCalls } from './system-calls.ts'

/** The rest after a power cut. */
export interface AfterCut {
  readonly seed: number
  /** A directory with what the disk kept. */
  readonly directory: string
  /** All lines that the program had written to its standard output before the cut. */
  readonly told: readonly string[]
}

export interface PowerCuts {
  /** A program of one process. `{}` in it stands for an empty directory, below which it works. */
  readonly command: readonly string[]
  readonly seeds: { readonly first: number; readonly count: number }
  /** If it returns true, the disk ignores syncs of files, or of directories. Default: it keeps its promises. */
  readonly isIgnored?: (isDirectory: boolean) => boolean
}

/** Runs the program once, cuts its power at a moment of each seed, and gives what is left to `check`. */
export async function cutPower(
  cuts: PowerCuts,
  check: (left: AfterCut) => Promise<void>,
): Promise<{ steps: number }> {
  const history = await historyOf(cuts)
  const { first, count } = cuts.seeds
  const seeds = Array.from({ length: count }, (_, at) => first + at)
  const planned = seeds.map((seed) => {
    const random = seededRandom(seed)
    return { seed, random, step: Math.floor(random.next() * (history.steps.length + 1)) }
  })
  const disk = new SimulatedDisk(history)
  const told = new ToldLines(history)
  await using home = await fastDirectory()
  for (const { seed, random, step } of planned.toSorted((a, b) => a.step - b.step)) {
    disk.advance(step)
    const directory = await mkdtemp(join(home.path, `seed-${seed}-`))
    await layOut(disk.content(random), directory)
    await check({ seed, directory, told: told.before(step) })
    await rm(directory, { recursive: true })
  }
  return { steps: history.steps.length }
}

async function historyOf({ command, isIgnored }: PowerCuts): Promise<DiskHistory> {
  await using home = await fastDirectory()
  const calls = await traceSystemCalls(
    command.map((each) => each.replaceAll('{}', () => home.path)),
  )
  const history = diskHistory(calls, home.path)
  // A promise that is not kept stays as a step, so that numbers of steps mean the same.
  const steps = history.steps.map((step): DiskStep =>
    step.kind === 'sync' && isIgnored?.(history.isDirectory.get(step.node) === true)
      ? { kind: 'told', text: '' }
      : step,
  )
  return { ...history, steps }
}

class ToldLines {
  readonly #history: DiskHistory
  readonly #lines: string[] = []
  #step = 0

  constructor(history: DiskHistory) {
    this.#history = history
  }

  before(step: number): readonly string[] {
    for (; this.#step < step; this.#step += 1) {
      const next = this.#history.steps[this.#step]
      if (next?.kind === 'told') this.#lines.push(...next.text.split('\n').filter(Boolean))
    }
    return [...this.#lines]
  }
}

/** Makes a directory in memory if the machine has a place for it: what is tested is in the trace. */
async function fastDirectory(): Promise<AsyncDisposable & { readonly path: string }> {
  const memory = '/dev/shm'
  const hasMemory = await access(memory).then(
    () => true,
    () => false,
  )
  const path = await mkdtemp(join(hasMemory ? memory : tmpdir(), 'power-cut-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}
