import { closeSync, fsyncSync, openSync, rmSync, statSync, statfsSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { storeBounds } from './store-limits.ts'

const { reserveBytes, chunkBytes } = storeBounds.diskReserve

/**
 * Space on the disk that only deletes may use once it is full. A delete needs some, as it is first written
 * down like any other change.
 */
export class DiskReserve {
  readonly #path: string
  #isHeld: boolean

  /** Takes the space if there is room for it; else the store runs without a reserve until there is. */
  constructor(storePath: string) {
    this.#path = `${storePath}.reserve`
    // One that a killed process wrote by half is written again.
    this.#isHeld = sizeOf(this.#path) === reserveBytes
    if (!this.#isHeld) this.take()
  }

  get isHeld(): boolean {
    return this.#isHeld
  }

  /** False: it was given back before. */
  release(): boolean {
    if (!this.#isHeld) return false
    this.#isHeld = false
    rmSync(this.#path, { force: true })
    return true
  }

  /** Takes the space again if that leaves as much free. Never throws. */
  take(): boolean {
    if (this.#isHeld) return true
    try {
      const { bavail, bsize } = statfsSync(dirname(this.#path))
      if (bavail * bsize < 2 * reserveBytes) return false
      writeBlocks(this.#path)
      this.#isHeld = true
    } catch {
      // Somebody else took the room meanwhile: half a reserve is given back.
      rmSync(this.#path, { force: true })
    }
    return this.#isHeld
  }
}

/** Undefined for what is not there or cannot be followed, such as a link to itself: it is written again. */
function sizeOf(path: string): number | undefined {
  try {
    return statSync(path).size
  } catch {
    return undefined
  }
}

/** Real blocks: a file with holes reserves nothing. Bytes that differ, so that none are shared or packed. */
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
