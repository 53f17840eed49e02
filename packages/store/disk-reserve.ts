import { closeSync, fsyncSync, openSync, rmSync, statSync, statfsSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { storeBounds } from './limits-table.ts'

const { reserveBytes, chunkBytes } = storeBounds.diskReserve

/**
 * Reserves space that only deletes may use once the disk is full. A delete needs some, because it
 * is first written to the log like any other change.
 */
export class DiskReserve {
  readonly #path: string
  #isHeld: boolean

  /** Takes the space if there is room for it; otherwise the store runs without a reserve until there is. */
  constructor(storePath: string) {
    this.#path = `${storePath}.reserve`
    // A reserve that a killed process wrote partly is written again.
    this.#isHeld = sizeOf(this.#path) === reserveBytes
    if (!this.#isHeld) this.take()
  }

  get isHeld(): boolean {
    return this.#isHeld
  }

  /** Returns false if it was released before. */
  release(): boolean {
    if (!this.#isHeld) return false
    this.#isHeld = false
    rmSync(this.#path, { force: true })
    return true
  }

  /** Takes the space again if as much remains free. Never throws. */
  take(): boolean {
    if (this.#isHeld) return true
    try {
      const { bavail, bsize } = statfsSync(dirname(this.#path))
      if (bavail * bsize < 2 * reserveBytes) return false
      writeBlocks(this.#path)
      this.#isHeld = true
    } catch {
      // Another program took the room meanwhile, so half a reserve is given back.
      rmSync(this.#path, { force: true })
    }
    return this.#isHeld
  }
}

/**
 * Returns undefined for a file that is missing or cannot be followed, such as a link to itself; it
 * is written again.
 */
function sizeOf(path: string): number | undefined {
  try {
    return statSync(path).size
  } catch {
    return undefined
  }
}

/**
 * Writes real blocks, because a file with holes reserves nothing. The bytes differ, so that no
 * blocks are shared or compressed.
 */
function writeBlocks(path: string): void {
  const file = openSync(path, 'w', 0o600)
  try {
    const chunk = Buffer.alloc(chunkBytes)
    for (let at = 0; at < reserveBytes; at += chunkBytes) {
      for (let word = 0; word < chunkBytes; word += 4) {
        chunk.writeUInt32LE(Math.imul(at + word, 2_654_435_761) >>> 0, word)
      }
      writeSync(file, chunk)
    }
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
