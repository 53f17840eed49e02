import { closeSync, ftruncateSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import type { LogRow } from './sqlite-log.ts'

/** The newest row of the store before the first kept one. */
export interface Base {
  readonly revision: number
  readonly checksum: number
}

const headSize = 12

/**
 * Keeps rows in a file next to the store until SQLite has them, so that a killed process loses none. Nothing is
 * synced: a power cut may leave any part of it. Each record has a checksum over itself and all before it, which
 * begins with the store's newest row; records of another time do not follow that row, and are never read.
 *
 * A record is the length of its two parts and the checksum, each in four bytes, then the row without its value as JSON,
 * then the value.
 */
export class RecentWrites implements Disposable {
  readonly #path: string
  #file: number | undefined
  #size = 0
  #sum = 0

  constructor(path: string) {
    this.#path = path
  }

  /** Begins again, after this row. */
  begin(base: Base): void {
    this.clear()
    this.#sum = sumOf(base)
  }

  /** Throws if the disk takes no more; then nothing of these rows counts. */
  append(rows: readonly LogRow[]): void {
    if (rows.length === 0) return
    this.#file ??= openSync(this.#path, 'w', 0o600)
    const records: Uint8Array[] = []
    let sum = this.#sum
    for (const { value, ...row } of rows) {
      const json = Buffer.from(JSON.stringify(row))
      const head = Buffer.alloc(headSize)
      head.writeUInt32LE(json.length, 0)
      head.writeUInt32LE(value.length, 4)
      sum = crc32(value, crc32(json, crc32(head.subarray(0, 8), sum)))
      head.writeUInt32LE(sum, 8)
      records.push(head, json, value)
    }
    this.#write(this.#file, Buffer.concat(records))
    this.#sum = sum
  }

  #write(file: number, bytes: Buffer): void {
    try {
      for (let at = 0; at < bytes.length;) {
        at += writeSync(file, bytes, at, bytes.length - at, this.#size + at)
      }
      this.#size += bytes.length
    } catch (error) {
      ftruncateSync(file, this.#size)
      throw error
    }
  }

  clear(): void {
    if (this.#size === 0) return
    this.#size = 0
    if (this.#file !== undefined) ftruncateSync(this.#file)
  }

  [Symbol.dispose](): void {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
    // The next start reads rows that could not be committed.
    if (this.#size === 0) removeIfThere(this.#path)
  }
}

function removeIfThere(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // It was never written, or something else is in its place; an empty one says as much.
  }
}

/** Returns the rows that follow this one, up to the first that is not as it was written. */
export function readRecentWrites(path: string, base: Base): LogRow[] {
  const rows: LogRow[] = []
  const bytes = contentOf(path)
  let sum = sumOf(base)
  for (let at = 0; at + headSize <= bytes.length;) {
    const jsonAt = at + headSize
    const valueAt = jsonAt + bytes.readUInt32LE(at)
    const end = valueAt + bytes.readUInt32LE(at + 4)
    if (end > bytes.length) break
    const [json, value] = [bytes.subarray(jsonAt, valueAt), bytes.subarray(valueAt, end)]
    sum = crc32(value, crc32(json, crc32(bytes.subarray(at, at + 8), sum)))
    if (sum !== bytes.readUInt32LE(at + 8)) break
    // The checksum proves that append() wrote it.
    const row = JSON.parse(json.toString()) as Omit<LogRow, 'value'>
    rows.push({ ...row, value })
    at = end
  }
  return rows
}

function contentOf(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    // Nothing durable depends on the file, so whatever is in its place is none.
    if (error instanceof Error && 'code' in error) return Buffer.alloc(0)
    throw error
  }
}

function sumOf({ revision, checksum }: Base): number {
  return crc32(`${revision} ${checksum}`)
}
