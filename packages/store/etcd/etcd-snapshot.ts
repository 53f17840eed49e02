import { createHash } from 'node:crypto'
import { mkdir, open, rename, rm, stat, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { status, type ClientReadableStream, type ServiceError } from '@grpc/grpc-js'
import {
  diskFullError,
  ExpectedError,
  exitCodes,
  isDiskFull,
  syncDirectory,
  type Clock,
} from '@skerry/base'
import { storeBounds } from '../limits-table.ts'
import { StoreUnavailableError } from '../store-errors.ts'
import { EtcdChannel, EtcdError, type EtcdEndpoints } from './etcd-channel.ts'
import type { WireHeader } from './etcd-schema-table.ts'

const { silentMs } = storeBounds.etcdSnapshot

/** etcd ends a snapshot with the SHA-256 of all bytes before it. */
const sha256Length = 32

export interface SnapshotContext {
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** Saves a snapshot of an etcd by a connection of its own. See saveEtcdSnapshot. */
export async function saveSnapshotOf(
  endpoints: EtcdEndpoints,
  path: string,
  context: SnapshotContext,
): Promise<{ bytes: number; revision: number }> {
  using channel = new EtcdChannel(endpoints, context.clock)
  return await saveEtcdSnapshot(channel, path, context)
}

/**
 * Saves a snapshot of a whole etcd as of one moment, in etcd's own format. Resolves to a revision that is in it: all
 * writes that were acknowledged before the call are. Throws ExpectedError if etcd does not answer or refuses, the disk
 * is full, or the file exists; then there is no new file.
 */
export async function saveEtcdSnapshot(
  channel: EtcdChannel,
  path: string,
  context: SnapshotContext,
): Promise<{ bytes: number; revision: number }> {
  const { signal } = context
  try {
    // Before a stream is open that nobody would read.
    await refuseExisting(path)
    // A linearizable read: the member that answers has everything up to here, and gives the snapshot as well.
    const range = { key: Buffer.from('/'), countOnly: true }
    const { header } = await channel.read<{ header: WireHeader }>('Range', range, signal)
    const stream = await channel.answers('Snapshot', {}, signal)
    const bytes = await saveSnapshotParts(receivedParts(stream, context), path)
    return { bytes, revision: header.revision }
  } catch (error) {
    if (signal.aborted) throw signal.reason
    throw shownFault(error, path)
  }
}

/** Yields the parts of a snapshot as a stream brings them. It is cancelled if none comes for a minute. */
export async function* receivedParts(
  stream: ClientReadableStream<object>,
  { clock, signal }: SnapshotContext,
): AsyncGenerator<Uint8Array, void> {
  const cancel = (): void => stream.cancel()
  let silence = clock.setTimer(silentMs, cancel)
  // The iteration below reports it, too; without a listener, one that comes before that would end the process.
  stream.on('error', () => undefined)
  signal.addEventListener('abort', cancel, { once: true })
  try {
    for await (const message of stream) {
      silence[Symbol.dispose]()
      // The schema tables decode this.
      yield (message as { blob: Uint8Array }).blob
      silence = clock.setTimer(silentMs, cancel)
    }
  } finally {
    silence[Symbol.dispose]()
    signal.removeEventListener('abort', cancel)
    cancel()
  }
}

/** Writes a snapshot, which gets its name only when its digest is right and it is on the disk. Resolves to its size. */
export async function saveSnapshotParts(
  parts: AsyncIterable<Uint8Array>,
  path: string,
): Promise<number> {
  await refuseExisting(path)
  const partPath = `${path}.part`
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await rm(partPath, { force: true })
    const bytes = await writeParts(parts, partPath)
    await rename(partPath, path)
    await syncDirectory(dirname(path))
    return bytes
  } finally {
    await rm(partPath, { force: true })
  }
}

async function refuseExisting(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined) return
  throw new ExpectedError('the file exists; choose another name', exitCodes.dataDirectory)
}

async function writeParts(parts: AsyncIterable<Uint8Array>, path: string): Promise<number> {
  await using file = await open(path, 'wx', 0o600)
  const sum = createHash('sha256')
  let tail = Buffer.alloc(0)
  let bytes = 0
  for await (const part of parts) {
    await writeAll(file, part)
    bytes += part.length
    // The last bytes may be the digest, so they wait for the next part.
    const seen = Buffer.concat([tail, part])
    const end = Math.max(0, seen.length - sha256Length)
    sum.update(seen.subarray(0, end))
    tail = seen.subarray(end)
  }
  if (tail.length < sha256Length || !sum.digest().equals(tail)) {
    throw new ExpectedError('the snapshot came damaged or not whole; try again', exitCodes.failure)
  }
  await file.sync()
  return bytes
}

async function writeAll(file: FileHandle, content: Uint8Array): Promise<void> {
  let from = 0
  while (from < content.length) {
    const { bytesWritten } = await file.write(content, from)
    from += bytesWritten
  }
}

function shownFault(error: unknown, path: string): unknown {
  const doing = `Cannot save a snapshot of etcd as ${path}`
  if (isDiskFull(error)) return diskFullError(`save a snapshot of etcd as ${path}`, error)
  if (error instanceof ExpectedError) {
    return new ExpectedError(`${doing}: ${error.message}`, error.exitCode, { cause: error })
  }
  const refusal = refusals.get(codeOf(error))
  if (refusal !== undefined) {
    return new ExpectedError(`${doing}: ${refusal}`, exitCodes.failure, { cause: error })
  }
  if (!(error instanceof EtcdError || error instanceof StoreUnavailableError)) return error
  const remedy = 'check --etcd-servers and the certificate options of etcd'
  const text = `${doing}: ${error.message}; ${remedy}`
  return new ExpectedError(text, exitCodes.unreachable, { cause: error })
}

const refusals: ReadonlyMap<number | undefined, string> = new Map([
  [
    status.UNIMPLEMENTED,
    'the server of the store makes no snapshots of etcd; back it up by its own means',
  ],
  [
    status.PERMISSION_DENIED,
    'etcd allows snapshots to its root user only; run "etcdctl snapshot save" as that one',
  ],
  [status.UNAVAILABLE, 'etcd does not answer; try again'],
  [status.CANCELLED, 'etcd went silent; try again'],
])

function codeOf(error: unknown): number | undefined {
  // A stream of gRPC fails with an error of this form.
  return error instanceof Error && 'code' in error ? (error as ServiceError).code : undefined
}
