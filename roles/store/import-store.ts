import { join } from 'node:path'
import { storeFromSnapshot } from '@skerry/etcd-server'
import { openSnapshot } from '@skerry/etcd-snapshot'
import { createStoreFromRows, type StoreFromRows } from '@skerry/store'
import { openDataDirectory } from '../runtime/data-directory.ts'
import type { RoleContext } from '../runtime/role-context.ts'
import { historyOfSnapshot, scanSnapshot } from './site-records.ts'

export interface ImportOptions {
  readonly file: string
  /** True accepts a copy of a member's database, which has no checksum. */
  readonly mayLackChecksum?: boolean | undefined
  readonly onProgress?: ((records: number) => void) | undefined
}

type ImportContext = Pick<RoleContext, 'log' | 'signal'>

/**
 * Replaces the embedded store of a stopped site or hub with the state below a prefix in a snapshot of etcd. The snapshot
 * is read as a whole before anything is written; a store that is there is kept next to the new one. Throws ExpectedError.
 */
export async function importSite(
  options: ImportOptions & { dataDir: string; prefix: string },
  { signal }: ImportContext,
): Promise<StoreFromRows> {
  const { file, dataDir, prefix, mayLackChecksum, onProgress } = options
  await using snapshot = await openSnapshot(file, { mayLackChecksum, signal })
  const scan = await scanSnapshot(snapshot, prefix)
  await openDataDirectory(dataDir)
  const history = historyOfSnapshot(snapshot, scan, { prefix, onProgress })
  return await createStoreFromRows(join(dataDir, 'store.db'), history, signal)
}

/** Makes the store of a `skerry etcd` of everything in a snapshot of etcd. Throws ExpectedError, e.g. if it has one. */
export async function importEtcdServer(
  { file, etcdDataDir, mayLackChecksum, onProgress }: ImportOptions & { etcdDataDir: string },
  { log, signal }: ImportContext,
): Promise<{ revision: number; records: number }> {
  await using snapshot = await openSnapshot(file, { mayLackChecksum, signal })
  await openDataDirectory(etcdDataDir)
  return await storeFromSnapshot(join(etcdDataDir, 'etcd.db'), snapshot, {
    log,
    signal,
    onProgress,
  })
}
