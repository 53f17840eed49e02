import { setImmediate as nextTurn } from 'node:timers/promises'
import { etcdServerBounds } from '../limits-table.ts'
import { AnswerTooLargeError } from './engine-errors.ts'
import type { EtcdEngine } from './etcd-engine.ts'
import type { KeyRange } from './key-range.ts'
import type { KeyValue } from './key-value.ts'

const { sliceKeys, sliceBytes, countKeys, answerBytesMax } = etcdServerBounds.readRange

export interface RangeSlice {
  readonly kvs: readonly KeyValue[]
  /** The number of keys in the whole range, even if the limit cut it. */
  readonly count: number
}

/**
 * Reads entries as of one revision, at most `limit` of them, in slices, so that other calls get through in between.
 * Throws CompactedRevisionError if the revision is compacted meanwhile.
 */
export async function readRange(
  engine: EtcdEngine,
  range: KeyRange,
  revision: number,
  limit: number,
): Promise<RangeSlice> {
  const kvs: KeyValue[] = []
  let bytes = 0
  for await (const slice of slicesOf(engine, range, revision, limit)) {
    for (const kv of slice) {
      kvs.push(kv)
      bytes += kv.key.length + kv.value.length
    }
    if (bytes > answerBytesMax) throw new AnswerTooLargeError(answerBytesMax)
  }
  const rest = kvs.length < limit ? 0 : await countRange(engine, range, revision, kvs.at(-1)?.key)
  return { kvs, count: kvs.length + rest }
}

/** Yields the entries of a range in slices of few keys and bytes, at most `limit` entries in all. */
export async function* slicesOf(
  engine: EtcdEngine,
  range: KeyRange,
  revision: number,
  limit: number,
): AsyncGenerator<readonly KeyValue[], void> {
  let after: Uint8Array | undefined
  for (let left = limit; left > 0; await nextTurn()) {
    engine.readable(revision)
    const page = { range, revision, after, limit: Math.min(sliceKeys, left) }
    const { kvs, isLast } = engine.log.slice({ ...page, bytesMax: sliceBytes })
    yield kvs
    if (isLast) return
    left -= kvs.length
    after = kvs.at(-1)?.key
  }
}

/** Counts the keys of a range after `after`, in slices. */
export async function countRange(
  engine: EtcdEngine,
  range: KeyRange,
  revision: number,
  after?: Uint8Array,
): Promise<number> {
  let last = after
  for (let total = 0; ; await nextTurn()) {
    engine.readable(revision)
    const slice = engine.log.count({ range, revision, after: last, limit: countKeys })
    total += slice.count
    if (slice.count < countKeys) return total
    last = slice.last
  }
}
