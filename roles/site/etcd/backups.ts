import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { logFailure, type Clock, type Logger } from '@skerry/base'
import { saveSnapshotParts } from '@skerry/store'
import { namesIn } from '../../runtime/files.ts'
import { backupName, isBackupDue, surplusBackups } from './backup-plan.ts'
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
    try {
      if (!isBackupDue(await namesIn(files.backups), clock.now(), everyMs)) continue
      const client = clients.at(watch.ownUrl)
      const path = join(files.backups, backupName(clock.now()))
      const bytes = await saveSnapshotParts(client.snapshot(signal), path)
      await removeOld(files.backups, clock.now(), keep)
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

async function removeOld(directory: string, nowMs: number, keep: number): Promise<void> {
  for (const name of surplusBackups(await namesIn(directory), nowMs, keep)) {
    await rm(join(directory, name), { force: true })
  }
}
