import { randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'

/**
 * Where a store keeps writes that SQLite does not have yet. They are in memory if the machine has a directory there:
 * the kernel writes each change of a file to the disk within seconds, with the file's times, and a calm site would give
 * its disk five times as much.
 */
export interface RecentPlace {
  readonly path: string
  /** The length of what stands before the first record. */
  readonly headBytes: number
  /**
   * The text at the head of a file in memory, which differs from that of each other file. A store that finds another
   * one, or none, cannot know what its last process held. Empty if the file is next to the store.
   */
  readonly mark: string
}

/** The directory of Linux for shared memory: every user may write there, and a machine that stops loses it. */
const memoryDirectory = '/dev/shm'

/** TMPFS_MAGIC in statfs(2). */
const tmpfs = 0x01021994
const markLength = 32

/** Where a store keeps them if nothing is in memory. */
export function pathBesideStore(path: string): string {
  return `${path}-recent`
}

/** Returns the place of a store whose file exists. */
export function findRecentPlace(path: string, directory = memoryDirectory): RecentPlace {
  const name = nameInMemory(path, directory)
  const mark = name === undefined ? undefined : (readMark(name, path) ?? makeMark(name))
  if (name === undefined || mark === undefined) {
    return { path: pathBesideStore(path), headBytes: 0, mark: '' }
  }
  return { path: name, headBytes: markLength, mark }
}

/** A copy of the store, or another one at its path, has another name. */
function nameInMemory(path: string, directory: string): string | undefined {
  try {
    if (statfsSync(directory).type !== tmpfs) return undefined
  } catch {
    // Another system, or a machine without the directory.
    return undefined
  }
  const { dev, ino } = statSync(path, { bigint: true })
  return join(directory, `skerry-store-${dev}-${ino}`)
}

/** Reads the mark of a file that the store's owner made: anybody may put one there, or a link to another file. */
function readMark(name: string, path: string): string | undefined {
  try {
    // A pipe would make the process wait.
    const file = openSync(name, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const found = fstatSync(file)
      const isOwn = found.isFile() && found.uid === statSync(path).uid && found.nlink === 1
      const mark = readFileSync(file).toString('latin1', 0, markLength)
      return isOwn && mark.length === markLength ? mark : undefined
    } finally {
      closeSync(file)
    }
  } catch {
    return undefined
  }
}

/** Returns undefined if the name is taken, or there is no space. */
function makeMark(name: string): string | undefined {
  const mark = randomBytes(markLength / 2).toString('hex')
  try {
    const file = openSync(name, 'wx', 0o600)
    try {
      writeSync(file, mark)
    } finally {
      closeSync(file)
    }
    return mark
  } catch {
    return undefined
  }
}
