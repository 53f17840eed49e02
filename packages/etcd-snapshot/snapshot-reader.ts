import { open, type FileHandle } from 'node:fs/promises'
import { ExpectedError, exitCodes, MalformedProtobufError, messageOf } from '@skerry/base'
import { BoltReader, DamagedFileError, type PlacedElement } from './bolt/bolt-reader.ts'
import { checksumBytes, checksumOf, splitSize } from './checksum.ts'
import { etcdSnapshotBounds } from './limits-table.ts'
import type { EtcdLease, EtcdRecord } from './records/etcd-record.ts'
import { readKeyValue, readLease, readRevisionKey } from './records/record-codec.ts'

const { leasesMax } = etcdSnapshotBounds.snapshotReader

export interface SnapshotSummary {
  /** Reads below it fail; 0 if nothing was compacted. */
  readonly compacted: number
  readonly leases: readonly EtcdLease[]
  /** True if etcd asks its clients for users and passwords. */
  readonly hasUsers: boolean
}

export interface Snapshot extends SnapshotSummary, AsyncDisposable {
  /** Yields all changes in the order of their revisions, in slices; again from the start with each call. */
  records(): AsyncGenerator<EtcdRecord[], void>
}

export interface ReadOptions {
  /** True accepts a copy of a member's database, which has no checksum. Default: false. */
  readonly mayLackChecksum?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Opens a snapshot, and compares it with its checksum. Throws ExpectedError, here and while changes are read, for a file
 * that is damaged or not a snapshot; its text names the page.
 */
export async function openSnapshot(path: string, options: ReadOptions = {}): Promise<Snapshot> {
  const file = await openFile(path)
  try {
    const databaseBytes = await checkedSize(file, path, options)
    const summary = await explained(path, () => readSummary(file, databaseBytes))
    return {
      ...summary,
      records: () => recordsOf(file, path, databaseBytes),
      [Symbol.asyncDispose]: () => file.close(),
    }
  } catch (error) {
    await file.close()
    throw error
  }
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r')
  } catch (error) {
    const text = `Cannot read ${path}: ${messageOf(error)}`
    throw new ExpectedError(text, exitCodes.dataDirectory, { cause: error })
  }
}

async function checkedSize(file: FileHandle, path: string, options: ReadOptions): Promise<number> {
  const info = await file.stat()
  if (!info.isFile()) throw unreadable(path, 'it is not a file')
  const split = splitSize(info.size)
  if (split === undefined) throw unreadable(path, 'it is cut off, or no snapshot of etcd')
  const { databaseBytes, hasChecksum } = split
  if (!hasChecksum) {
    if (options.mayLackChecksum === true) return databaseBytes
    const text = 'it has no checksum at its end, so it is cut off, or a copy of a member’s database'
    throw unreadable(path, `${text}; if it is such a copy, pass --skip-hash-check`)
  }
  const found = Buffer.alloc(checksumBytes)
  await file.read(found, 0, checksumBytes, databaseBytes)
  const computed = await checksumOf(file, databaseBytes, options.signal)
  if (found.equals(computed)) return databaseBytes
  throw unreadable(path, 'its checksum is wrong: the file is damaged')
}

async function readSummary(file: FileHandle, bytes: number): Promise<SnapshotSummary> {
  const bolt = await BoltReader.open(file, bytes)
  if (!bolt.has('key')) throw new DamagedFileError('it has no bucket "key", so it is not etcd’s')
  const marks = await readMarks(bolt)
  const leases: EtcdLease[] = []
  for await (const elements of bolt.leaves('lease')) {
    leases.push(...elements.map(leaseOf))
    if (leases.length > leasesMax) throw new DamagedFileError(`more than ${leasesMax} leases`)
  }
  let hasUsers = false
  for await (const elements of bolt.leaves('auth')) {
    hasUsers ||= elements.some(
      ({ key, value }) => key.toString() === 'authEnabled' && value[0] === 1,
    )
  }
  return { compacted: Math.max(0, ...marks), leases, hasUsers }
}

async function readMarks(bolt: BoltReader): Promise<number[]> {
  const marks: number[] = []
  for await (const elements of bolt.leaves('meta')) {
    for (const { key, value, page } of elements) {
      const name = key.toString()
      if (name !== 'scheduledCompactRev' && name !== 'finishedCompactRev') continue
      const mark = readRevisionKey(value)
      if (mark === undefined) throw damaged(page, `${name} is not a revision`)
      marks.push(mark.revision)
    }
  }
  return marks
}

function leaseOf({ key, value, page }: PlacedElement): EtcdLease {
  const lease = parsed(page, 'a lease', () => readLease(value))
  if (key.length !== 8 || key.readBigInt64BE() !== lease.id) {
    throw damaged(page, `lease ${lease.id} has the key of another one`)
  }
  if (lease.ttlSeconds < 1) throw damaged(page, `lease ${lease.id} has no time`)
  return lease
}

async function* recordsOf(
  file: FileHandle,
  path: string,
  bytes: number,
): AsyncGenerator<EtcdRecord[], void> {
  const bolt = await explained(path, () => BoltReader.open(file, bytes))
  const leaves = bolt.leaves('key')
  for (;;) {
    const next = await explained(path, async () => {
      const { value, done } = await leaves.next()
      return done === true ? undefined : value.flatMap((each) => recordOf(each) ?? [])
    })
    if (next === undefined) return
    yield next
  }
}

function recordOf({ key: name, value: bytes, page }: PlacedElement): EtcdRecord | undefined {
  const at = readRevisionKey(name)
  if (at === undefined || at.revision < 1) throw damaged(page, 'a key is not a revision')
  // `etcdutl snapshot restore --bump-revision` puts nothing at the revision to which it goes, and compacts up to there.
  if (bytes.length === 0) return undefined
  const { modRevision, key, ...kv } = parsed(page, `revision ${at.revision}`, () =>
    readKeyValue(bytes),
  )
  if (key.length === 0) throw damaged(page, `revision ${at.revision} has no key`)
  if (at.isDeleted) return { ...at, key, value: noBytes, createRevision: 0, version: 0, lease: 0n }
  const { createRevision, version } = kv
  const isSound = modRevision === at.revision && createRevision >= 1 && version >= 1
  if (!isSound || createRevision > modRevision) {
    throw damaged(
      page,
      `revision ${at.revision} says that it is ${modRevision}, or was never created`,
    )
  }
  return { ...at, ...kv, key }
}

const noBytes = new Uint8Array(0)

function parsed<T>(page: number, what: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    if (!(error instanceof MalformedProtobufError)) throw error
    throw damaged(page, `${what} is not a record: ${error.why}`)
  }
}

function damaged(page: number, what: string): DamagedFileError {
  return new DamagedFileError(`page ${page}: ${what}`)
}

async function explained<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof DamagedFileError)) throw error
    throw unreadable(path, error.message)
  }
}

function unreadable(path: string, why: string): ExpectedError {
  return new ExpectedError(`Cannot use snapshot ${path}: ${why}`, exitCodes.dataDirectory)
}
