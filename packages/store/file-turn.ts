import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Clock, Random } from '@skerry/base'
import { openDatabase, sqliteFault } from './sqlite-database.ts'
import { storeBounds } from './limits-table.ts'

const { lookMs } = storeBounds.fileTurn

/**
 * Lets one process of this machine at a time continue, until it disposes of the turn; the kernel
 * takes it back from a killed one. File and directory are created if they are missing, and stay.
 * Nothing else may open the file, because closing it there would end the turn. Rejects with the
 * signal's reason.
 */
export async function takeFileTurn(
  path: string,
  { clock, random }: { clock: Clock; random: Random },
  signal: AbortSignal,
): Promise<Disposable> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const database = openDatabase(path)
  try {
    for (;;) {
      signal.throwIfAborted()
      try {
        database.exec('BEGIN EXCLUSIVE')
        return { [Symbol.dispose]: () => database.close() }
      } catch (error) {
        if (sqliteFault(error) !== 'busy') throw error
      }
      await clock.sleep(lookMs * (0.5 + random.next()), signal)
    }
  } catch (error) {
    database.close()
    throw error
  }
}
