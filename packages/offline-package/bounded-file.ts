import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { ExpectedError, exitCodes, messageOf } from '@skerry/base'
import { packageBounds } from './limits-table.ts'
import type { BlobRef } from './manifest.ts'

/**
 * Opens a regular file. A package comes from outside: a link would lead elsewhere, and a pipe or a device would never
 * end. Rejects with an ExpectedError that names the file.
 */
async function openRegular(path: string): Promise<FileHandle> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  let file: FileHandle
  try {
    file = await open(path, flags)
  } catch (error) {
    throw unusable(path, messageOf(error), error)
  }
  try {
    if ((await file.stat()).isFile()) return file
    throw unusable(path, 'it is not a regular file')
  } catch (error) {
    await file.close()
    throw error
  }
}

/** Reads a whole file, if it has no more than so many bytes, whatever size it claims to have. */
export async function readBounded(path: string, bytesMax: number): Promise<Buffer> {
  await using file = await openRegular(path)
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of piecesOf(file, bytesMax + 1)) {
    bytes += piece.length
    if (bytes > bytesMax) throw unusable(path, `it has more than ${bytesMax} bytes`)
    pieces.push(Buffer.from(piece))
  }
  return Buffer.concat(pieces)
}

/**
 * Reads a file that must have this length and digest, and no byte more. Rejects with an ExpectedError that names the
 * file and the difference.
 */
export async function checkFile(
  path: string,
  { sha256, bytes }: BlobRef,
  signal: AbortSignal,
): Promise<void> {
  await using file = await openRegular(path)
  const hash = createHash('sha256')
  let seen = 0
  for await (const piece of piecesOf(file, bytes + 1)) {
    signal.throwIfAborted()
    seen += piece.length
    hash.update(piece)
  }
  if (seen !== bytes) {
    throw unusable(path, `it has ${seen > bytes ? 'more' : 'fewer'} than its ${bytes} bytes`)
  }
  if (hash.digest('hex') !== sha256) throw unusable(path, 'its content differs from its name')
}

/** Yields at most so many bytes. Each piece is valid until the next one is asked for. */
async function* piecesOf(file: FileHandle, bytesMax: number): AsyncGenerator<Buffer> {
  const buffer = Buffer.alloc(Math.min(packageBounds.pieceBytes, bytesMax))
  for (let left = bytesMax; left > 0;) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, left), null)
    if (bytesRead === 0) return
    left -= bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

function unusable(path: string, why: string, cause?: unknown): ExpectedError {
  return new ExpectedError(`Cannot use ${path}: ${why}`, exitCodes.failure, { cause })
}
