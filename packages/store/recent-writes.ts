import {
  closeSync,
  constants,
  ftruncateSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { crc32 } from 'node:zlib'
import type { RecentPlace } from './recent-place.ts'
import type { LogRow } from './sqlite-log.ts'

/** The newest row of the store before the first kept one. */
export interface Base {
  readonly revision: number
  readonly checksum: number
}

const headSize = 12

/**
 * Keeps rows in a file until SQLite has them, so that a killed process loses none. Nothing is synced: a power cut may
 * leave any part of it, and takes one in memory. Each record has a checksum over itself and all before it, which
 * begins with the store's newest row; records of another time do not follow that row, and are never read.
 *
 * A record is the length of its two parts and the checksum, each in four bytes, then the row without its value as JSON,
 * then the value.
 */
export class RecentWrites implements Disposable {
  readonly #place: RecentPlace
  #file: number | undefined
  #size = 0
  #sum = 0
  #bytesInMemory = 0

  constructor(place: RecentPlace) {
    this.#place = place
  }

  /** The bytes that it has written to memory, which no disk gets. */
  get bytesInMemory(): number {
    return this.#bytesInMemory
  }

  /** Begins again, after this row. */
  begin(base: Base): void {
    this.clear()
    this.#sum = sumOf(base)
  }

  /** Throws if the disk takes no more; then nothing of these rows counts. */
  append(rows: readonly LogRow[]): void {
    if (rows.length === 0) return
    this.#file ??= this.#open()
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

  /** A file in memory is there, with its mark; anybody may put something else in its place. */
  #open(): number {
    const { path, headBytes } = this.#place
    if (headBytes === 0) return openSync(path, 'w', 0o600)
    const file = openSync(path, constants.O_RDWR | constants.O_NOFOLLOW)
    ftruncateSync(file, headBytes)
    return file
  }

  #write(file: number, bytes: Buffer): void {
    const { headBytes } = this.#place
    const start = headBytes + this.#size
    try {
      for (let at = 0; at < bytes.length;) {
        at += writeSync(file, bytes, at, bytes.length - at, start + at)
      }
      this.#size += bytes.length
      if (headBytes > 0) this.#bytesInMemory += bytes.length
    } catch (error) {
      ftruncateSync(file, start)
      throw error
    }
  }

  clear(): void {
    if (this.#size === 0) return
    this.#size = 0
    if (this.#file !== undefined) ftruncateSync(this.#file, this.#place.headBytes)
  }

  /** Removes the file. Call it when SQLite has all rows, and knows that it was closed. */
  forget(): void {
    removeIfThere(this.#place.path)
  }

  /** The next start reads rows that could not be committed, and from the mark that none is lost. */
  [Symbol.dispose](): void {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }
}

export function removeIfThere(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // It was never written, or something else is in its place; an empty one says as much.
  }
}

/** Returns the rows that follow this one, up to the first that is not as it was written. */
export function readRecentWrites(place: RecentPlace, base: Base): LogRow[] {
  const rows: LogRow[] = []
  const bytes = contentOf(place.path).subarray(place.headBytes)
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
