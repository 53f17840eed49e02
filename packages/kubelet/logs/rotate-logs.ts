import { createReadStream, createWriteStream } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { asError, type Clock, type Logger } from '@skerry/base'
import { rotatedFiles } from './read-log.ts'
import { logRotationDefaults } from '../limits-table.ts'

export interface RunningLog {
  containerId: string
  path: string
}

export interface LogRotationDeps {
  /** Returns the logs of the containers that run now. */
  runningLogs: (signal: AbortSignal) => Promise<readonly RunningLog[]>
  /** Tells the runtime to reopen the path. */
  reopen: (containerId: string, signal: AbortSignal) => Promise<void>
  clock: Clock
  log: Logger
}

/** Bounds every container's log, because the disk of an edge box is small and unattended. */
export async function runLogRotation(deps: LogRotationDeps, signal: AbortSignal): Promise<void> {
  for (;;) {
    await deps.clock.sleep(logRotationDefaults.checkMs, signal)
    for (const each of await deps.runningLogs(signal)) {
      try {
        await rotateOne(each, deps, signal)
      } catch (error) {
        if (signal.aborted) throw signal.reason
        deps.log.error('Log not rotated, trying again', {
          path: each.path,
          error: asError(error),
        })
      }
    }
  }
}

async function rotateOne(
  each: RunningLog,
  deps: LogRotationDeps,
  signal: AbortSignal,
): Promise<void> {
  const size = await sizeOf(each.path)
  if (size <= logRotationDefaults.bytesMax) return
  const older = await rotatedFiles(each.path)
  // The newest rotated part stays plain: a reader of the current file may still be in it.
  for (const path of older.filter((name) => !name.endsWith('.gz'))) await compress(path)
  const kept = await rotatedFiles(each.path)
  const surplus = kept.length - (logRotationDefaults.filesMax - 2)
  for (const path of kept.slice(0, Math.max(0, surplus))) await rm(path, { force: true })
  const rotated = `${each.path}.${stamp(deps.clock.now())}`
  await rename(each.path, rotated)
  try {
    await deps.reopen(each.containerId, signal)
  } catch (error) {
    // Nothing writes to the new name, so the container gets its file back.
    await rename(rotated, each.path)
    throw error
  }
  deps.log.debug('Log rotated', { path: each.path, bytes: size })
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return 0
    throw error
  }
}

async function compress(path: string): Promise<void> {
  const temporary = `${path}.gz.tmp`
  await pipeline(createReadStream(path), createGzip(), createWriteStream(temporary))
  await rename(temporary, `${path}.gz`)
  await rm(path)
}

/** Formats upstream's file names: 20260102-030405, which sort by time. */
function stamp(nowMs: number): string {
  return new Date(nowMs).toISOString().replaceAll(/[-:]/g, '').replace('T', '-').slice(0, 15)
}
