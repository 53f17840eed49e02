import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { logFailure, type Clock, type Logger } from '@skerry/base'
import { saveSnapshotParts } from '@skerry/store'
import type { BackupPlan, EtcdFiles } from './embedded-options.ts'
import type { MemberClients } from './member-clients.ts'
import type { MemberWatch } from './watch-members.ts'
import { siteBounds } from '../limits-table.ts'

export interface BackupDeps {
  readonly clock: Clock
  readonly log: Logger
  readonly clients: MemberClients
  readonly files: EtcdFiles
  readonly watch: MemberWatch
}

const { lookMs, retryMs } = siteBounds.etcd.backups

/** Keeps the newest snapshots of this master's member on its disk, until the signal aborts. */
export async function keepBackups(
  { everyMs, keep }: BackupPlan,
  deps: BackupDeps,
  signal: AbortSignal,
): Promise<never> {
  const { clock, log, files, clients, watch } = deps
  for (;;) {
    await clock.sleep(lookMs, signal)
    const newest = newestMs(await backupNames(files.backups))
    // A clock that was ahead once must not end the backups.
    const isDue = newest === undefined || clock.now() - newest >= everyMs || newest > clock.now()
    if (!isDue) continue
    try {
      const client = clients.at(watch.ownUrl)
      const path = join(files.backups, `${namePrefix}${stampOf(clock.now())}.db`)
      const bytes = await saveSnapshotParts(client.snapshot(signal), path)
      await removeOld(files.backups, keep)
      log.info('Snapshot of etcd saved', { path, bytes })
    } catch (error) {
      signal.throwIfAborted()
      logFailure(log, {
        subject: 'Snapshot of etcd',
        message: 'Snapshot of etcd not saved, trying again',
        error,
      })
      await clock.sleep(retryMs, signal)
    }
  }
}

const namePrefix = 'snapshot-'

/** The time as in file names: 2026-11-24T03-30-00Z. */
function stampOf(ms: number): string {
  return new Date(ms)
    .toISOString()
    .replaceAll(':', '-')
    .replace(/\.\d+Z$/, 'Z')
}

/** The names of the snapshots in a directory, oldest first. */
async function backupNames(directory: string): Promise<string[]> {
  const names = await readdir(directory).catch(() => [])
  return names.filter((name) => timeOf(name) !== undefined).toSorted()
}

function newestMs(names: readonly string[]): number | undefined {
  const [last] = names.slice(-1)
  return last === undefined ? undefined : timeOf(last)
}

function timeOf(name: string): number | undefined {
  const [, day, hour, minute, second] =
    /^snapshot-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)Z\.db$/.exec(name) ?? []
  if (day === undefined) return undefined
  return Date.parse(`${day}T${hour}:${minute}:${second}Z`)
}

async function removeOld(directory: string, keep: number): Promise<void> {
  const names = await backupNames(directory)
  for (const name of names.slice(0, Math.max(0, names.length - keep))) {
    await rm(join(directory, name), { force: true })
  }
}
