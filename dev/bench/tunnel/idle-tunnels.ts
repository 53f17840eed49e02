import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { engineFlags } from '../../../roles/runtime/engine-flags.ts'
import { alone, type Figure } from '../measure/figure.ts'
import { freePort } from '../../processes/free-port.ts'
import { launcherEnvironment } from '../../processes/launcher-environment.ts'
import { memoryOf } from '../../processes/role-process.ts'
import { writeCertificates } from './certificates.ts'

const tunnelCount = 1_000
const goalKilobytes = 60
/** The engine gives back what a burst took after half a minute. */
const settleMs = 40_000

/**
 * Measures the cost of an idle tunnel at the hub's end: the tunnel package alone, with TLS and client
 * certificates.
 */
export async function measureIdleTunnels(parent: string): Promise<Figure[]> {
  const directory = join(parent, 'idle-tunnels')
  await mkdir(directory, { recursive: true })
  await writeCertificates(directory)
  const port = String(await freePort())
  await using processes = new AsyncDisposableStack()
  const start = async (role: 'hub' | 'agents', count: number): Promise<ChildProcess> => {
    const script = join(import.meta.dirname, 'hold-tunnels.ts')
    const flags = ['--disable-warning=ExperimentalWarning', ...(engineFlags['hub'] ?? [])]
    const child = spawn(
      process.execPath,
      [...flags, script, role, directory, port, String(count)],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: { ...process.env, ...(await launcherEnvironment('hub')) },
      },
    )
    processes.defer(async () => {
      const exited = once(child, 'exit')
      if (child.exitCode === null && child.kill()) await exited
    })
    await once(createInterface(child.stdout), 'line', { signal: AbortSignal.timeout(120_000) })
    return child
  }
  const hub = await start('hub', 0)
  // The first tunnels load and compile code.
  await start('agents', 100)
  await sleep(settleMs)
  const before = await memoryOf(hub.pid ?? 0)
  await start('agents', tunnelCount)
  await sleep(settleMs)
  const during = await memoryOf(hub.pid ?? 0)
  const kilobytes = ((during.resident - before.resident) * 1_000) / tunnelCount
  return [alone('tunnel.idle.memory', 'kB each', kilobytes, goalKilobytes)]
}
