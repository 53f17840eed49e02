import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import {
  diskFullError,
  ExpectedError,
  exitCodes,
  isDiskFull,
  ProtoWriter,
  syncDirectory,
} from '@skerry/base'
import { BoltWriter, type TreeElement } from './bolt/bolt-writer.ts'
import { checksumOf } from './checksum.ts'
import type { EtcdLease, EtcdRecord } from './records/etcd-record.ts'
import { keyValueOf, leaseKeyOf, leaseValueOf, revisionKey } from './records/record-codec.ts'

export interface SnapshotSource {
  /** Reads below it fail; 0 if nothing was compacted. */
  readonly compacted: number
  /** The revision up to which compacted history has been removed. etcd removes the rest when it starts. */
  readonly scrubbed: number
  readonly leases: readonly EtcdLease[]
  /** All changes in the order of their revisions, in slices. */
  readonly records: AsyncIterable<readonly EtcdRecord[]>
}

export interface WriteOptions {
  /** True for a snapshot as `etcdctl snapshot save` makes it, false for the database of a member. */
  readonly hasChecksum: boolean
  /** Called now and then with the number of changes that were written. */
  readonly onProgress?: ((records: number) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Writes a snapshot, makes it durable, and only then gives it its name. Keeps one slice of changes in memory. Throws
 * ExpectedError if there is such a file, or the disk is full.
 */
export async function writeSnapshot(
  path: string,
  source: SnapshotSource,
  options: WriteOptions,
): Promise<{ bytes: number; records: number }> {
  await refuseExisting(path)
  const partPath = `${path}.part`
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await rm(partPath, { force: true })
    const written = await writePart(partPath, source, options)
    await rename(partPath, path)
    await syncDirectory(dirname(path))
    return written
  } catch (error) {
    if (error instanceof ExpectedError || !isDiskFull(error)) throw error
    throw diskFullError(`write ${path}`, error)
  } finally {
    await rm(partPath, { force: true })
  }
}

async function refuseExisting(path: string): Promise<void> {
  const found = await stat(path).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  })
  if (found === undefined) return
  const text = `Cannot write ${path}: the file exists; choose another name`
  throw new ExpectedError(text, exitCodes.dataDirectory)
}

async function writePart(
  path: string,
  source: SnapshotSource,
  { hasChecksum, onProgress, signal }: WriteOptions,
): Promise<{ bytes: number; records: number }> {
  await using bolt = await BoltWriter.create(path)
  let records = 0
  const writer = new ProtoWriter()
  async function* keys(): AsyncGenerator<TreeElement, void> {
    for await (const slice of source.records) {
      signal?.throwIfAborted()
      for (const record of slice) {
        yield { key: revisionKey(record), value: keyValueOf(record, writer) }
      }
      records += slice.length
      onProgress?.(records)
    }
  }
  await bolt.bucket('key', keys())
  await bolt.bucket('lease', leaseElements(source.leases))
  await bolt.bucket('meta', metaElements(source))
  const bytes = await bolt.finish()
  if (!hasChecksum) return { bytes, records }
  const checksum = await checksumOf(bolt.file, bytes, signal)
  await bolt.file.write(checksum, 0, checksum.length, bytes)
  await bolt.file.sync()
  return { bytes: bytes + checksum.length, records }
}

function leaseElements(leases: readonly EtcdLease[]): TreeElement[] {
  return leases
    .map((lease) => ({ key: leaseKeyOf(lease), value: leaseValueOf(lease) }))
    .toSorted((a, b) => Buffer.compare(a.key, b.key))
}

function metaElements({ compacted, scrubbed }: SnapshotSource): TreeElement[] {
  const marks = [
    { key: 'finishedCompactRev', revision: scrubbed },
    { key: 'scheduledCompactRev', revision: compacted },
  ]
  return marks
    .filter(({ revision }) => revision > 0)
    .map(({ key, revision }) => ({
      key: Buffer.from(key),
      value: revisionKey({ revision, sub: 0 }),
    }))
}
