import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ExpectedError, exitCodes } from '@skerry/base'
import { createTestNetwork } from '@skerry/testing'
import { version } from '../../roles/runtime/version.ts'
import { bundleProgram } from '../build/bundle.ts'
import type { BenchOptions, Figure } from './measure/figure.ts'
import { run as runStore } from './store.ts'
import { measureUpStart } from './up-start.ts'

const root = join(import.meta.dirname, '../..')

/** The figures that the first milestone names: start, memory, pod start, `up`, durable writes. */
export async function run(options: BenchOptions): Promise<Figure[]> {
  if (process.getuid?.() !== 0) {
    throw new ExpectedError(
      'Cannot measure: a host with containers of its own needs root; run it with sudo',
      exitCodes.missingRight,
    )
  }
  await mkdir(join(root, '.cache'), { recursive: true })
  const directory = await mkdtemp(join(root, '.cache', 'bench-main-'))
  try {
    const program = await bundleProgram({ outputDirectory: join(directory, 'program'), version })
    const inHost = await measureInHost({ ...options, program, directory })
    const up = await measureUpStart({ rounds: options.rounds, directory: join(directory, 'up') })
    return [...inHost, ...up, ...(await runStore(options))]
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

async function measureInHost({
  rounds,
  program,
  directory,
}: BenchOptions & { program: string; directory: string }): Promise<Figure[]> {
  await using network = await createTestNetwork()
  const host = await network.addHost(1)
  const script = join(import.meta.dirname, 'in-host.ts')
  const { exitCode, stdout, stderr } = await host.run([
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    script,
    program,
    join(directory, 'state'),
    String(rounds),
  ])
  if (exitCode !== 0) throw new Error(`Cannot measure: exit code ${exitCode}: ${stderr}`)
  // in-host.ts prints this type.
  return JSON.parse(stdout) as Figure[]
}
