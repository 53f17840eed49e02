import { join } from 'node:path'
import { writeSnapshot } from '@skerry/etcd-snapshot'
import { openStoreRows } from '@skerry/store'
import type { RoleContext } from '../runtime/role-context.ts'
import { recordsOfRows } from './site-records.ts'

export interface ExportOptions {
  /** The data directory of a site or hub that is stopped. */
  readonly dataDir: string
  readonly file: string
  /** The path in etcd below which the keys will be. */
  readonly prefix: string
  readonly onProgress?: (records: number) => void
}

export interface ExportResult {
  readonly bytes: number
  readonly records: number
  readonly revision: number
}

/** Writes the embedded store as a snapshot of etcd. Throws ExpectedError if it is in use or damaged. */
export async function exportStore(
  { dataDir, file, prefix, onProgress }: ExportOptions,
  { log, signal }: Pick<RoleContext, 'log' | 'signal'>,
): Promise<ExportResult> {
  using rows = await openStoreRows(join(dataDir, 'store.db'), log)
  const source = recordsOfRows(rows, prefix)
  const written = await writeSnapshot(file, source, { hasChecksum: true, onProgress, signal })
  return { ...written, revision: rows.revision }
}
