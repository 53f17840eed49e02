import { closeSync, openSync, readSync } from 'node:fs'

/** The bytes that the store has given to the disk, and its acknowledged writes. */
export interface StoreCounters {
  /** Bytes of the write-ahead log, of its merges into the main file, and of recent writes that are not in memory. */
  readonly bytesWritten: number
  readonly writes: number
}

/**
 * Counts the bytes that this thread hands to the kernel while the store works, by the kernel's own count (`wchar` in
 * proc(5)). SQLite works in the calling thread, and nothing else does meanwhile. Where the kernel does not count, the
 * bytes stay 0.
 */
export class WriteMeter implements Disposable {
  readonly #file = openCount()
  readonly #buffer = Buffer.alloc(512)
  #bytesWritten = 0
  #writes = 0

  get counters(): StoreCounters {
    return { bytesWritten: this.#bytesWritten, writes: this.#writes }
  }

  measure<T>(work: () => T): T {
    const before = this.#count()
    try {
      return work()
    } finally {
      this.#bytesWritten += this.#count() - before
    }
  }

  acknowledged(writes: number): void {
    this.#writes += writes
  }

  [Symbol.dispose](): void {
    if (this.#file !== undefined) closeSync(this.#file)
  }

  #count(): number {
    if (this.#file === undefined) return 0
    const length = readSync(this.#file, this.#buffer, 0, this.#buffer.length, 0)
    const from = this.#buffer.indexOf(name) + name.length
    // It is read twice for each commit, so that no text is made of it.
    let count = 0
    for (let at = from; at < length && this.#buffer[at] !== newLine; at += 1) {
      count = count * 10 + (this.#buffer[at] ?? zero) - zero
    }
    return count
  }
}

const name = Buffer.from('wchar: ')
const newLine = 0x0a
const zero = 0x30

function openCount(): number | undefined {
  try {
    return openSync('/proc/thread-self/io', 'r')
  } catch {
    // Another system, or a kernel without the count.
    return undefined
  }
}
