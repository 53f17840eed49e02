import { StatusError } from '@skerry/api'
import { createWakeFlag } from '@skerry/base'
import {
  CompactedError,
  FutureRevisionError,
  SlowWatcherError,
  type Entry,
  type Store,
  type StoreEvent,
  type WatchBatch,
} from '@skerry/store'
import { nodeApiBounds } from '../limits-table.ts'
import type { StoredObject } from './copy-file.ts'

const { batchesMax } = nodeApiBounds.copiedResource

export interface CopySource {
  /** The revision of the objects on disk. */
  revision(): number
  /** Returns objects in the order of their keys. */
  objects(page: { after: string; limit: number }): readonly StoredObject[]
  /** Returns the store's key of an object; of the empty text, the prefix of all. */
  keyOf(objectKey: string): string
}

/**
 * Shows a copy as a store that cannot be written, so that the API server's cache can serve it. It has no history:
 * reads at older revisions throw CompactedError.
 */
export class CopiedStore implements Store {
  readonly #source: CopySource
  readonly #wake = createWakeFlag()
  #batches: WatchBatch[] = []
  #isBroken = false

  constructor(source: CopySource) {
    this.#source = source
  }

  /** Hands on what was written to disk. */
  push(events: readonly Omit<StoreEvent, 'createRevision'>[], revision: number): void {
    if (this.#batches.length >= batchesMax) return this.reset()
    const keyed = events.map((event) => ({
      ...event,
      key: this.#source.keyOf(event.key),
      createRevision: event.modRevision,
    }))
    this.#batches.push({ events: keyed, revision })
    this.#wake.raise()
  }

  /** Call this when the copy has changed without events: watches end, and readers read again. */
  reset(): void {
    this.#batches = []
    this.#isBroken = true
    this.#wake.raise()
  }

  revision(): Promise<number> {
    return Promise.resolve(this.#source.revision())
  }

  async get(key: string): Promise<{ revision: number; entry?: Entry }> {
    const { revision, entries } = await this.list({ prefix: key })
    const entry = entries.find((each) => each.key === key)
    return { revision, ...(entry ? { entry } : {}) }
  }

  async list({ prefix, after = '', limit = 0, revision = 0 }: Parameters<Store['list']>[0]) {
    const current = this.#source.revision()
    // A reader begins again.
    if (after === '') this.#isBroken = false
    if (revision !== 0 && revision < current) throw new CompactedError(current)
    if (revision > current) throw new FutureRevisionError(revision, current)
    const base = this.#source.keyOf('')
    const pageLimit = limit === 0 ? Number.MAX_SAFE_INTEGER : limit + 1
    const from = after.startsWith(base) ? after.slice(base.length) : ''
    const read = this.#source.objects({ after: from, limit: pageLimit })
    const page = limit === 0 ? read : read.slice(0, limit)
    const entries = page
      .map(({ key, value, revision: modRevision }) => ({
        key: this.#source.keyOf(key),
        value,
        modRevision,
        createRevision: modRevision,
      }))
      .filter(({ key }) => key.startsWith(prefix))
    const more = read.length > page.length
    return { revision: current, entries, more, remaining: more ? 1 : 0 }
  }

  async *watch(
    { afterRevision }: Parameters<Store['watch']>[0],
    signal: AbortSignal,
  ): AsyncGenerator<WatchBatch> {
    // The objects that were read from disk contain the batches that were written before.
    this.#batches = this.#batches.filter(({ revision }) => revision > afterRevision)
    for (;;) {
      while (this.#batches.length === 0 && !this.#isBroken) await this.#wake.wait(signal)
      if (this.#isBroken) throw new SlowWatcherError('Cannot follow the copy: it was read again')
      yield* this.#batches.splice(0)
    }
  }

  write(): Promise<never> {
    return Promise.reject(readOnly())
  }

  compact(): Promise<never> {
    return Promise.reject(readOnly())
  }

  compactedRevision(): Promise<number> {
    return this.revision()
  }

  grantLease(): Promise<never> {
    return Promise.reject(readOnly())
  }

  keepLeaseAlive(): Promise<never> {
    return Promise.reject(readOnly())
  }

  revokeLease(): Promise<never> {
    return Promise.reject(readOnly())
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve()
  }
}

function readOnly(): StatusError {
  return new StatusError('ServiceUnavailable', 'Cannot write: this is a copy of another server')
}
