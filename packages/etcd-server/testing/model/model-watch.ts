import assert from 'node:assert/strict'
import type { EtcdClient } from '../etcd-client.ts'
import type { EtcdModel, ModelEvent } from './etcd-model.ts'

const b = (text: string): Uint8Array => Buffer.from(text, 'latin1')
const textOf = (bytes: Uint8Array | undefined): string =>
  Buffer.from(bytes ?? []).toString('latin1')

export interface WatchedRange {
  readonly from: string
  readonly until: string
  /** The first revision that is wanted. */
  readonly start: number
}

/** Follows a range over the lives of a server: it opens a new watch where the last one ended. */
export class ModelWatch {
  readonly #range: WatchedRange
  readonly #seen: Omit<ModelEvent, 'previous'>[] = []
  #next: number
  /** The revision from which on a compaction left something to watch. */
  #gone: number | undefined
  #reading: Promise<void> = Promise.resolve()

  constructor(range: WatchedRange) {
    this.#range = range
    this.#next = range.start
  }

  /** Reads until the client ends. */
  follow(client: EtcdClient): void {
    this.#reading = this.#reading.then(() => this.#read(client)).catch(() => {})
  }

  /** Asserts that exactly the model's events have come, once all of them should have. */
  async assertSame(
    model: EtcdModel,
    until: (check: () => boolean) => Promise<unknown>,
  ): Promise<void> {
    const { from, until: end, start } = this.#range
    const wanted = model.events
      .filter(({ key, revision }) => key >= from && key < end && revision >= start)
      .map(({ type, key, value, revision }) => ({ type, key, value, revision }))
    await until(() => this.#gone !== undefined || this.#seen.length >= wanted.length)
    if (this.#gone !== undefined) {
      // It ends where it was when its revision was compacted: what it saw before is whole.
      assert.ok(this.#gone <= model.compacted)
      assert.deepEqual(this.#seen, wanted.slice(0, this.#seen.length))
    } else assert.deepEqual(this.#seen, wanted)
  }

  async #read(client: EtcdClient): Promise<void> {
    if (this.#gone !== undefined) return
    const { from, until } = this.#range
    const stream = client.stream('Watch')
    const range = { key: b(from), rangeEnd: b(until) }
    stream.send({ createRequest: { ...range, startRevision: this.#next, prevKv: true } })
    for await (const { events, canceled, compactRevision } of stream) {
      if (canceled) this.#gone = compactRevision
      for (const { type, kv } of events) {
        const revision = kv?.modRevision ?? 0
        const event = { key: textOf(kv?.key), value: textOf(kv?.value), revision }
        this.#seen.push({ type: type === 0 ? 'put' : 'delete', ...event })
        this.#next = revision + 1
      }
      if (canceled) return
    }
  }
}
