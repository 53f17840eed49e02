import { createLogger, systemClock } from '@skerry/base'
import { dialContainerd, superviseContainerd } from '@skerry/kubelet'
import { stat } from 'node:fs/promises'
import { containerdOptions } from './node-containerd.ts'
import { codeOf } from './data-directory.ts'
import type { Installation } from './installation.ts'
import { join } from 'node:path'

/** Ends every pod of the node, then its containerd. Starts containerd first if only pods are left. */
export async function stopContainers(
  installation: Installation,
  signal: AbortSignal,
): Promise<void> {
  const options = containerdOptions(installation.nodeDir, join(installation.runDir, 'node'))
  if (!(await exists(options.dataDirectory))) return
  const log = createLogger({ level: 'error', destination: process.stderr })
  const containerd = await superviseContainerd(options, { clock: systemClock, log }, signal)
  {
    await using runtime = dialContainerd(containerd.socket)
    const sandboxes = await runtime.listPodSandboxes(signal)
    await Promise.all(
      sandboxes.map(async ({ id }) => {
        await runtime.stopPodSandbox(id, signal)
        await runtime.removePodSandbox(id, signal)
      }),
    )
  }
  await containerd.stop()
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path)
    return true
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
}
