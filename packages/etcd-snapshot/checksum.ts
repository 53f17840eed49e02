import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { etcdSnapshotBounds } from './limits-table.ts'

const { chunkBytes } = etcdSnapshotBounds.checksum
/** The size of a SHA-256, which stands after the database. */
export const checksumBytes = 32
/** The size of a database is a multiple of this, so that etcd tells by the size whether a checksum follows. */
const databaseUnit = 512

/** Returns undefined for a size that neither a database nor one with a checksum has. */
export function splitSize(
  bytes: number,
): { databaseBytes: number; hasChecksum: boolean } | undefined {
  const rest = bytes % databaseUnit
  if (rest === 0) return { databaseBytes: bytes, hasChecksum: false }
  if (rest !== checksumBytes) return undefined
  return { databaseBytes: bytes - checksumBytes, hasChecksum: true }
}

/** Computes the SHA-256 of the first bytes of the file. */
export async function checksumOf(
  file: FileHandle,
  bytes: number,
  signal?: AbortSignal,
): Promise<Buffer> {
  const hash = createHash('sha256')
  const chunk = Buffer.allocUnsafe(chunkBytes)
  for (let at = 0; at < bytes;) {
    signal?.throwIfAborted()
    const { bytesRead } = await file.read(chunk, 0, Math.min(chunkBytes, bytes - at), at)
    if (bytesRead === 0) throw new RangeError('Cannot compute a checksum: the file became shorter')
    hash.update(chunk.subarray(0, bytesRead))
    at += bytesRead
  }
  return hash.digest()
}
