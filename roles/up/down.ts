import { ExpectedError, exitCodes, systemClock } from '@skerry/base'
import { lockHolder } from '../runtime/lock-file.ts'
import { findInstallation } from './find-installation.ts'
import { stopContainers } from './stop-containers.ts'
import { upBounds } from './limits-table.ts'

export interface DownOptions {
  dataDir: string
  /** Whether to end the pods and containerd, too. */
  stopsPods: boolean
}

const { stopMsMax, lookMs } = upBounds.down

/** Stops hub, site and node in order. Pods go on, unless asked otherwise. True when something ran. */
export async function runDown(options: DownOptions, signal: AbortSignal): Promise<boolean> {
  const { installation } = await findInstallation(options.dataDir)
  const holder = await lockHolder(installation.lockFile)
  if (holder !== undefined) {
    process.kill(holder, 'SIGTERM')
    await untilGone(installation.lockFile, holder, signal)
  }
  if (options.stopsPods) await stopContainers(installation, signal)
  return holder !== undefined
}

async function untilGone(lockFile: string, holder: number, signal: AbortSignal): Promise<void> {
  for (let waitedMs = 0; waitedMs < stopMsMax; waitedMs += lookMs) {
    if ((await lockHolder(lockFile)) !== holder) return
    await systemClock.sleep(lookMs, signal)
  }
  throw new ExpectedError(
    `Cannot stop: process ${holder} is still there after ${stopMsMax / 1_000} s; end it with "kill -9 ${holder}"`,
    exitCodes.failure,
  )
}
