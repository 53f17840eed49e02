import { ExpectedError, createLogger, exitCodes, systemClock } from '@skerry/base'
import { dialContainerd, stopSandbox, superviseContainerd } from '@skerry/kubelet'
import { containerdOptions } from '../node/node-containerd.ts'
import type { Installation } from './installation.ts'
import { join } from 'node:path'
import { exists } from '../runtime/files.ts'

/**
 * Ends every pod of the node, then its containerd. Starts containerd first if only pods are left. A pod that
 * cannot be ended does not block the others.
 */
export async function stopContainers(
  installation: Installation,
  signal: AbortSignal,
): Promise<void> {
  const options = containerdOptions(installation.nodeDir, join(installation.runDir, 'node'))
  if (!(await exists(options.dataDirectory))) return
  const log = createLogger({ level: 'error', destination: process.stderr })
  const containerd = await superviseContainerd(options, { clock: systemClock, log }, signal)
  const failures: unknown[] = []
  {
    await using runtime = dialContainerd(containerd.socket)
    const sandboxes = await runtime.listPodSandboxes(signal)
    const ended = await Promise.allSettled(
      sandboxes.map(async ({ id }) => {
        await stopSandbox(runtime, id, signal)
        await runtime.removePodSandbox(id, signal)
      }),
    )
    failures.push(...ended.flatMap((each) => (each.status === 'rejected' ? [each.reason] : [])))
  }
  await containerd.stop()
  const [first] = failures
  if (first === undefined) return
  const message = first instanceof Error ? first.message : 'for an unknown reason'
  throw new ExpectedError(
    `Cannot end ${failures.length} pods: ${message}; run "skerry reset --yes", which continues without them`,
    exitCodes.failure,
    { cause: first },
  )
}
