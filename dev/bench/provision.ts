import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ExpectedError, exitCodes } from '@skerry/base'
import { whyNoMachine } from '@skerry/testing'
import { version } from '../../roles/runtime/version.ts'
import { bundleProgram } from '../build/bundle.ts'
import { alone, median, type BenchOptions, type Figure } from './measure/figure.ts'
import { measureBatch } from './provision/batch.ts'
import { measureCopiedBytes } from './provision/copied-bytes.ts'
import { measureReadyCluster } from './provision/ready-cluster.ts'

const root = join(import.meta.dirname, '../..')
const nodes = 50
const deadlineMs = 3_600_000
/** The goal of the design, in seconds: a one-machine cluster with its packages there. */
const oneMachineGoal = 60

const loads = ['copied', 'one-machine', 'three-machines', 'batch'] as const
type Load = (typeof loads)[number]

/** Measures how a hub makes edge clusters of machines. */
export async function run({ rounds, loads: asked = loads }: BenchOptions): Promise<Figure[]> {
  const odd = asked.find((load) => !loads.some((known) => known === load))
  const why = odd === undefined ? await whyNoMachine() : `the loads are ${loads.join(', ')}`
  if (why !== false) throw new ExpectedError(`Cannot measure: ${why}`, exitCodes.usage)
  await mkdir(join(root, '.cache'), { recursive: true })
  const directory = await mkdtemp(join(root, '.cache', 'bench-provision-'))
  const signal = AbortSignal.timeout(deadlineMs)
  const figures: Figure[] = []
  try {
    for (const load of loads.filter((each) => asked.includes(each))) {
      figures.push(...(await measures[load]({ rounds, directory, signal })))
    }
    return figures
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

interface Setting {
  readonly rounds: number
  readonly directory: string
  readonly signal: AbortSignal
}

const measures: Readonly<Record<Load, (setting: Setting) => Promise<Figure[]>>> = {
  async copied({ directory, signal }) {
    const bundled = async (name: string, named: string): Promise<string> =>
      dirname(await bundleProgram({ outputDirectory: join(directory, name), version: named }))
    const bundles = [
      await bundled('bundle', version),
      await bundled('next-bundle', `${version}-next`),
    ] as const
    const measured = await measureCopiedBytes({ bundles, directory }, signal)
    return Object.entries(measured).flatMap(([what, { first, again, upgrade }]) => [
      alone(`provision.copied.${what}.first`, 'MB', first / 1e6, null),
      alone(`provision.copied.${what}.again`, 'kB', again / 1e3, null),
      alone(`provision.copied.${what}.upgrade`, 'MB', upgrade / 1e6, null),
    ])
  },
  async 'one-machine'({ rounds }) {
    const seconds = await repeated(rounds, () => measureReadyCluster(1))
    return [alone('provision.one-machine', 's to Ready', seconds, oneMachineGoal)]
  },
  async 'three-machines'({ rounds }) {
    const seconds = await repeated(rounds, () => measureReadyCluster(3))
    return [alone('provision.three-machines', 's to Ready', seconds, null)]
  },
  async batch({ rounds, directory, signal }) {
    const seconds = await repeated(rounds, () => measureBatch(nodes, directory, signal))
    return [alone(`provision.batch.${nodes}`, 's, simulated', seconds, null)]
  },
}

async function repeated(rounds: number, measure: () => Promise<number>): Promise<number> {
  const values: number[] = []
  for (let round = 0; round < rounds; round++) values.push(await measure())
  return median(values)
}
