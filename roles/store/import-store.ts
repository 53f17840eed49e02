import { join } from 'node:path'
import { openSnapshot } from '@skerry/etcd-snapshot'
import { createStoreFromRows, type StoreFromRows } from '@skerry/store'
import type { RoleContext } from '../runtime/role-context.ts'
import { historyOfSnapshot, scanSnapshot } from './site-records.ts'

export interface ImportOptions {
  readonly file: string
  /** The data directory of a site or hub that is stopped. */
  readonly dataDir: string
  /** The path in etcd below which the keys are. */
  readonly prefix: string
  /** True accepts a copy of a member's database, which has no checksum. */
  readonly mayLackChecksum?: boolean
  readonly onProgress?: (records: number) => void
}

/**
 * Replaces the embedded store with the state below a prefix in a snapshot of etcd. The snapshot is read as a whole before
 * anything is written; a store that is there is kept beside the new one. Throws ExpectedError.
 */
export async function importStore(
  { file, dataDir, prefix, mayLackChecksum, onProgress }: ImportOptions,
  { signal }: Pick<RoleContext, 'signal'>,
): Promise<StoreFromRows> {
  await using snapshot = await openSnapshot(file, { mayLackChecksum, signal })
  const scan = await scanSnapshot(snapshot, prefix)
  const history = historyOfSnapshot(snapshot, scan, { prefix, onProgress })
  return createStoreFromRows(join(dataDir, 'store.db'), history, signal)
}
