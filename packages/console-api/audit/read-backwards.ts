import { open, type FileHandle } from 'node:fs/promises'
import { consoleBounds } from '../limits-table.ts'

const { chunkBytes, lineBytesMax, filesMax } = consoleBounds.auditSearch
const newline = 10

/**
 * Reads a rotating log from its end, through its older files, in pieces of whole lines: the newest piece comes first,
 * and each has its oldest line first. Lines that are too long are left out. A last line that is still being written is a
 * piece of one.
 */
export async function* readBackwards(path: string): AsyncGenerator<Buffer> {
  const seen = new Set<number>()
  for (let number = 0; number < filesMax; number += 1) {
    const file = await open(number === 0 ? path : `${path}.${number}`, 'r').catch(ignoreMissing)
    // While files move up, one may be missing for a moment.
    if (!file) continue
    await using _closed = file
    const { ino, size } = await file.stat()
    // It has moved up since it was read.
    if (seen.has(ino)) continue
    seen.add(ino)
    yield* piecesOf(file, size)
  }
}

async function* piecesOf(file: FileHandle, size: number): AsyncGenerator<Buffer> {
  /** The end of a line that begins in an earlier chunk. */
  let rest: Buffer = Buffer.alloc(0)
  let isTooLong = false
  for (let end = size; end > 0;) {
    const start = Math.max(0, end - chunkBytes)
    let chunk = await readAt(file, start, end - start)
    end = start
    if (isTooLong) {
      chunk = chunk.subarray(0, chunk.lastIndexOf(newline) + 1)
      if (chunk.length === 0) continue
      isTooLong = false
    }
    const bytes = rest.length === 0 ? chunk : Buffer.concat([chunk, rest])
    const first = start === 0 ? -1 : bytes.indexOf(newline)
    const hasLine = start === 0 || first >= 0
    rest = hasLine ? bytes.subarray(0, first + 1) : bytes
    if (rest.length > lineBytesMax) {
      rest = Buffer.alloc(0)
      isTooLong = true
    }
    if (hasLine && first + 1 < bytes.length) yield bytes.subarray(first + 1)
  }
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length)
  let filled = 0
  while (filled < length) {
    const { bytesRead } = await file.read(buffer, filled, length - filled, position + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return buffer.subarray(0, filled)
}

function ignoreMissing(error: unknown): undefined {
  if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
}
