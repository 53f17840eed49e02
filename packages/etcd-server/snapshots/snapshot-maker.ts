import { open, readdir, rm, type FileHandle } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { writeSnapshot, type EtcdRecord } from '@skerry/etcd-snapshot'
import { StoreBusyError } from '@skerry/store'
import type { LogRow } from '../engine/engine-schema.ts'
import type { EtcdEngine } from '../engine/etcd-engine.ts'
import { etcdServerBounds } from '../limits-table.ts'

const { snapshotsMax } = etcdServerBounds.snapshotMaker

/** A snapshot in a file without a name, which is gone when it is closed. */
export interface MadeSnapshot extends AsyncDisposable {
  readonly file: FileHandle
  readonly bytes: number
  readonly revision: number
}

/**
 * Makes snapshots next to the store, one after another. The front of the file names pages at its end, so that it has to be
 * whole before the first byte goes out; and a slow reader must not hold back compactions.
 */
export class SnapshotMaker {
  readonly #engine: EtcdEngine
  readonly #path: string
  #count = 0
  #open = 0

  private constructor(engine: EtcdEngine, storePath: string) {
    this.#engine = engine
    this.#path = `${storePath}.snapshot-`
  }

  /** Removes files that a killed process left behind. */
  static async open(engine: EtcdEngine, storePath: string): Promise<SnapshotMaker> {
    const maker = new SnapshotMaker(engine, storePath)
    const directory = dirname(storePath)
    for (const name of await readdir(directory)) {
      if (name.startsWith(basename(maker.#path))) await rm(join(directory, name), { force: true })
    }
    return maker
  }

  /** Throws StoreBusyError if too many are on their way. */
  async make(signal: AbortSignal): Promise<MadeSnapshot> {
    if (this.#open >= snapshotsMax) throw new StoreBusyError()
    this.#open += 1
    this.#count += 1
    const path = `${this.#path}${this.#count}`
    try {
      return await this.#write(path, signal)
    } catch (error) {
      this.#open -= 1
      throw error
    } finally {
      await rm(path, { force: true })
    }
  }

  async #write(path: string, signal: AbortSignal): Promise<MadeSnapshot> {
    const { bytes, revision } = await this.#engine.withHistory(async (history) => {
      const records = recordsOf(history.rows())
      const source = { ...history, records }
      const written = await writeSnapshot(path, source, { hasChecksum: true, signal })
      return { ...written, revision: history.revision }
    })
    const file = await open(path, 'r')
    return {
      file,
      bytes,
      revision,
      [Symbol.asyncDispose]: async () => {
        this.#open -= 1
        await file.close()
      },
    }
  }
}

export async function* recordsOf(
  slices: AsyncIterable<readonly LogRow[]>,
): AsyncGenerator<EtcdRecord[], void> {
  for await (const slice of slices) {
    yield slice.map((row) => ({ ...row, isDeleted: row.version === 0 }))
  }
}
