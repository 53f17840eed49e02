import { createHash } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import {
  asError,
  createWakeFlag,
  makeDirectoryDurably,
  syncDirectory,
  type Logger,
} from '@skerry/base'
import type { KubeObject } from '@skerry/api'
import { hasCode, namesIn } from '../system-error.ts'
import { writeWholeFile } from '../write-whole-file.ts'

export interface DiskEntry {
  /** The plural resource, e.g. pods; a separate folder. */
  resource: string
  /** A key that is unique within the resource, e.g. namespace/name or a uid. */
  key: string
}

const separator = '\n'

/**
 * Stores objects on disk, one file each: a line with the SHA-256 of the rest, then the JSON. A file is
 * written atomically (aside, synced, renamed), and a damaged one is ignored at the next start. Writes are
 * queued; of several for one object only the last is made.
 */
export class ObjectDisk {
  readonly #directory: string
  readonly #log: Logger
  /** The pending writes; null removes the file. */
  readonly #pending = new Map<string, { entry: DiskEntry; object: KubeObject | null }>()
  readonly #changed = createWakeFlag()
  #flushing: Promise<void> | undefined

  constructor(directory: string, log: Logger) {
    this.#directory = directory
    this.#log = log
  }

  put(entry: DiskEntry, object: KubeObject): void {
    this.#queue(entry, object)
  }

  remove(entry: DiskEntry): void {
    this.#queue(entry, null)
  }

  /** Returns all intact objects of one resource, by key. */
  async load<T extends KubeObject>(resource: string): Promise<Map<string, T>> {
    const objects = new Map<string, T>()
    for (const name of await namesIn(join(this.#directory, resource))) {
      if (!name.endsWith('.json')) continue
      const path = join(this.#directory, resource, name)
      const object = parse(await textOf(path))
      // The checksum proves that put() wrote it under this resource, and that it is unchanged.
      if (object) objects.set(decodeURIComponent(name.slice(0, -5)), object as T)
      else this.#log.error('Damaged file in the node store is ignored', { path })
    }
    return objects
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#changed.wait(signal)
      await this.flush()
    }
  }

  /** Resolves when what was queued before the call is on disk. */
  flush(): Promise<void> {
    const previous = this.#flushing ?? Promise.resolve()
    this.#flushing = previous.then(() => this.#flushPending())
    return this.#flushing
  }

  #queue(entry: DiskEntry, object: KubeObject | null): void {
    this.#pending.set(`${entry.resource}/${entry.key}`, { entry, object })
    this.#changed.raise()
  }

  async #flushPending(): Promise<void> {
    for (const [key, pending] of this.#pending) {
      this.#pending.delete(key)
      try {
        await this.#write(pending.entry, pending.object)
      } catch (error) {
        // The node continues from memory; after a reboot it may know an older state.
        this.#log.error('Cannot write the node store', { key, error: asError(error) })
      }
    }
  }

  async #write(entry: DiskEntry, object: KubeObject | null): Promise<void> {
    const directory = join(this.#directory, entry.resource)
    const path = join(directory, `${encodeURIComponent(entry.key)}.json`)
    if (object) return writeWholeFile(path, format(object))
    await makeDirectoryDurably(directory)
    await rm(path, { force: true })
    await syncDirectory(directory)
  }
}

/** Returns an empty string for a directory, which a damaged file system shows in the place of a file. */
async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (hasCode(error, 'EISDIR')) return ''
    throw error
  }
}

function format(object: KubeObject): string {
  const json = JSON.stringify(object)
  return `${checksum(json)}${separator}${json}`
}

function parse(text: string): KubeObject | undefined {
  const end = text.indexOf(separator)
  const json = text.slice(end + 1)
  if (end < 0 || text.slice(0, end) !== checksum(json)) return undefined
  // The checksum was made over what format() was given.
  return JSON.parse(json) as KubeObject
}

function checksum(json: string): string {
  return createHash('sha256').update(json).digest('hex')
}
