import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { version } from '../../roles/runtime/version.ts'
import { bundleProgram } from '../build/bundle.ts'
import { startSite } from './measure/api-subject.ts'
import { alone, type BenchOptions, type Figure } from './measure/figure.ts'
import { memoryOf } from '../processes/role-process.ts'

const root = join(import.meta.dirname, '../..')
const connectionCount = 10_000

/** Measures the cost of an idle TLS connection to a site; both ends need open files (ulimit -n). */
export async function run(_options: BenchOptions): Promise<Figure[]> {
  await mkdir(join(root, '.cache'), { recursive: true })
  const directory = await mkdtemp(join(root, '.cache', 'bench-idle-connections-'))
  try {
    const program = await bundleProgram({ outputDirectory: join(directory, 'program'), version })
    await using site = await startSite(program, { directory, isWhole: false })
    const [pid = 0] = site.pids
    await site.client.get('/api/v1/namespaces/default')
    const before = await memoryOf(pid)
    const client = spawn(
      process.execPath,
      [join(import.meta.dirname, 'hold-connections.ts'), site.kubeconfig, String(connectionCount)],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    try {
      const lines = createInterface(client.stdout)
      const [opened] = await once(lines, 'line', { signal: AbortSignal.timeout(80_000) })
      const during = await memoryOf(pid)
      const startMs = performance.now()
      const { status } = await site.client.get('/api/v1/namespaces/default')
      if (status !== 200) throw new Error(`Cannot measure: a GET was answered with ${status}`)
      const answeredMs = performance.now() - startMs
      const kilobytes = ((during.resident - before.resident) * 1_000) / Number(opened)
      return [
        alone('idle-connections.opened', 'connections', Number(opened), connectionCount),
        alone('idle-connections.memory', 'kB each', kilobytes, null),
        alone('idle-connections.get', 'ms', answeredMs, null),
      ]
    } finally {
      client.kill()
    }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
