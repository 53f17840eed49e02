import { createHash } from 'node:crypto'
import { mkdir, open, rename, rm, stat, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { status, type ServiceError } from '@grpc/grpc-js'
import { diskFullError, ExpectedError, exitCodes, isDiskFull } from '@skerry/base'
import type { EtcdChannel } from './etcd-channel.ts'

/** etcd ends a snapshot with the SHA-256 of all bytes before it. */
const digestBytes = 32

/**
 * Saves a snapshot of a whole etcd as of one moment, in etcd's own format. It gets its name only when its digest is right
 * and it is on the disk. Throws ExpectedError.
 */
export async function saveEtcdSnapshot(
  channel: EtcdChannel,
  targetPath: string,
  signal: AbortSignal,
): Promise<{ bytes: number }> {
  if (await isThere(targetPath)) {
    const text = `Cannot back up to ${targetPath}: the file exists; choose another name`
    throw new ExpectedError(text, exitCodes.dataDirectory)
  }
  const partPath = `${targetPath}.part`
  try {
    await mkdir(dirname(targetPath), { recursive: true, mode: 0o700 })
    await rm(partPath, { force: true })
    const bytes = await writeParts(channel, partPath, signal)
    await rename(partPath, targetPath)
    await using directory = await open(dirname(targetPath), 'r')
    await directory.sync()
    return { bytes }
  } catch (error) {
    throw shownFault(error, targetPath)
  } finally {
    await rm(partPath, { force: true })
  }
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

async function writeParts(
  channel: EtcdChannel,
  path: string,
  signal: AbortSignal,
): Promise<number> {
  await using file = await open(path, 'wx', 0o600)
  const sum = createHash('sha256')
  let tail = Buffer.alloc(0)
  let bytes = 0
  const stream = await channel.answers('Snapshot', {}, signal)
  const onAbort = (): void => stream.cancel()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    for await (const message of stream) {
      // The schema table decodes this.
      const { blob } = message as { blob: Uint8Array }
      await writeAll(file, blob)
      bytes += blob.length
      // The last bytes may be the digest, so they wait for the next part.
      const seen = Buffer.concat([tail, blob])
      const end = Math.max(0, seen.length - digestBytes)
      sum.update(seen.subarray(0, end))
      tail = seen.subarray(end)
    }
  } finally {
    signal.removeEventListener('abort', onAbort)
    stream.cancel()
  }
  if (tail.length < digestBytes || !sum.digest().equals(tail)) {
    const text = 'the snapshot came damaged or not whole'
    throw new ExpectedError(text, exitCodes.failure)
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

function shownFault(error: unknown, targetPath: string): unknown {
  if (isDiskFull(error)) return diskFullError(`back up to ${targetPath}`, error)
  if (error instanceof ExpectedError) {
    const text = `Cannot back up to ${targetPath}: ${error.message}; try again`
    return new ExpectedError(text, error.exitCode, { cause: error })
  }
  const refusal = refusals.get(codeOf(error))
  if (refusal === undefined) return error
  const text = `Cannot back up to ${targetPath}: ${refusal}`
  return new ExpectedError(text, exitCodes.failure, { cause: error })
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
])

function codeOf(error: unknown): number | undefined {
  // A stream of gRPC fails with an error of this form.
  return error instanceof Error && 'code' in error ? (error as ServiceError).code : undefined
}
