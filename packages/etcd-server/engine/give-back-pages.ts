import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '@skerry/base'
import { pragma, type Database } from '@skerry/store'
import { etcdServerBounds } from '../limits-table.ts'

const { pagesAtFirst, pagesMax, stepMs } = etcdServerBounds.giveBackPages

export interface GiveBackDeps {
  readonly database: Database
  readonly clock: Pick<Clock, 'monotonicMs'>
  /** Runs one step in a transaction. Rejects once the store is closed. */
  readonly commit: (step: () => void) => Promise<void>
}

/** Gives the space of free pages back to the disk, in short steps, so that other calls get through in between. */
export async function giveBackPages({ database, clock, commit }: GiveBackDeps): Promise<void> {
  if (Number(pragma(database, 'auto_vacuum')) === 0) {
    // An early version made files that only this long step can shrink; afterwards the short ones can.
    database.exec('PRAGMA auto_vacuum = INCREMENTAL; VACUUM')
  }
  let pages: number = pagesAtFirst
  for (;;) {
    const free = freePages(database)
    if (free === 0) break
    const fromMs = clock.monotonicMs()
    // Each of its rows is a step, and a prepared statement would take the first one alone.
    await commit(() => database.exec(`PRAGMA incremental_vacuum(${pages})`))
    if (freePages(database) >= free) break
    const isSlow = clock.monotonicMs() - fromMs > stepMs
    pages = isSlow ? Math.max(1, pages >> 1) : Math.min(pages * 2, pagesMax)
    await nextTurn()
  }
  pragma(database, 'wal_checkpoint(TRUNCATE)')
}

function freePages(database: Database): number {
  return Number(pragma(database, 'freelist_count'))
}
