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

/** Measures how a hub makes edge clusters of machines. */
export async function run({ rounds }: BenchOptions): Promise<Figure[]> {
  const why = await whyNoMachine()
  if (why !== false) throw new ExpectedError(`Cannot measure: ${why}`, exitCodes.usage)
  await mkdir(join(root, '.cache'), { recursive: true })
  const directory = await mkdtemp(join(root, '.cache', 'bench-provision-'))
  const signal = AbortSignal.timeout(deadlineMs)
  try {
    const program = await bundleProgram({ outputDirectory: join(directory, 'program'), version })
    const copied = await measureCopiedBytes(dirname(program), directory, signal)
    const times = { one: [] as number[], three: [] as number[], batch: [] as number[] }
    for (let round = 0; round < rounds; round++) {
      times.one.push(await measureReadyCluster(1))
      times.three.push(await measureReadyCluster(3))
      times.batch.push(await measureBatch(nodes, directory, signal))
    }
    return [
      alone('provision.one-machine', 's to Ready', median(times.one), oneMachineGoal),
      alone('provision.three-machines', 's to Ready', median(times.three), null),
      alone(`provision.batch.${nodes}`, 's, simulated', median(times.batch), null),
      alone('provision.copied.first', 'MB', copied.first / 1e6, null),
      alone('provision.copied.again', 'kB', copied.again / 1e3, null),
    ]
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
