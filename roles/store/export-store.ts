import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ExpectedError, exitCodes } from '@skerry/base'
import { saveStore } from '@skerry/etcd-server'
import { openSnapshot, writeSnapshot } from '@skerry/etcd-snapshot'
import { openStoreRows, saveSnapshotOf } from '@skerry/store'
import { etcdOptionsOf, type EtcdFlags } from '../control-plane/etcd-options.ts'
import type { RoleContext } from '../runtime/role-context.ts'
import { recordsOfRows } from './site-records.ts'

export interface ExportResult {
  readonly bytes: number
  readonly revision: number
}

export interface ExportOptions {
  readonly file: string
  readonly onProgress?: ((records: number) => void) | undefined
}

type ExportContext = Pick<RoleContext, 'clock' | 'random' | 'log' | 'signal'>

/**
 * Writes the embedded store of a stopped site or hub as a snapshot of etcd, its keys below `prefix`. Throws ExpectedError
 * if the store is in use or damaged.
 */
export async function exportSite(
  { dataDir, prefix, file, onProgress }: ExportOptions & { dataDir: string; prefix: string },
  { log, signal }: ExportContext,
): Promise<ExportResult> {
  using rows = await openStoreRows(join(dataDir, 'store.db'), log)
  const source = recordsOfRows(rows, prefix)
  const { bytes } = await writeSnapshot(file, source, { hasChecksum: true, onProgress, signal })
  return { bytes, revision: rows.revision }
}

/** Writes the store of a stopped `skerry etcd` as a snapshot of etcd. Throws ExpectedError if it is in use. */
export async function exportEtcdServer(
  { etcdDataDir, file, onProgress }: ExportOptions & { etcdDataDir: string },
  context: ExportContext,
): Promise<ExportResult> {
  const { signal } = context
  return saveStore(join(etcdDataDir, 'etcd.db'), file, context, { signal, onProgress })
}

/**
 * Saves a snapshot of a running etcd, with all that it holds, and reads it to its end. Throws ExpectedError if etcd does not
 * answer, or the snapshot is damaged or older than the request; then there is no file.
 */
export async function exportEtcd(
  { etcd, file, onProgress }: ExportOptions & { etcd: EtcdFlags },
  context: ExportContext,
): Promise<ExportResult> {
  const options = await etcdOptionsOf(etcd)
  if (options === undefined) throw new TypeError('Cannot save a snapshot: no server is named')
  const { bytes, revision: asked } = await saveSnapshotOf(options, file, context)
  try {
    const revision = await readWhole(file, onProgress, context)
    if (revision >= asked) return { bytes, revision }
    const text = `Cannot use the snapshot: it ends at revision ${revision}, before ${asked}`
    throw new ExpectedError(`${text}; the member is behind, save it again`, exitCodes.failure)
  } catch (error) {
    await rm(file, { force: true })
    throw error
  }
}

async function readWhole(
  path: string,
  onProgress: ExportOptions['onProgress'],
  { signal }: ExportContext,
): Promise<number> {
  await using snapshot = await openSnapshot(path, { signal })
  let revision = Math.max(1, snapshot.compacted)
  let records = 0
  for await (const slice of snapshot.records()) {
    signal.throwIfAborted()
    revision = Math.max(revision, slice.at(-1)?.revision ?? 0)
    records += slice.length
    onProgress?.(records)
  }
  return revision
}
