import { setImmediate as nextTurn } from 'node:timers/promises'
import type { LogRow } from '../engine/engine-schema.ts'
import type { EtcdEngine } from '../engine/etcd-engine.ts'
import { etcdServerBounds } from '../limits-table.ts'
import { encodeMessage } from '../wire/message-codec.ts'
import { castagnoli } from './castagnoli.ts'

const { sliceRows } = etcdServerBounds.hashHistory

export interface HistoryHash {
  readonly hash: number
  /** The revision up to which it was computed. */
  readonly revision: number
  readonly compacted: number
}

/**
 * Computes etcd's own hash of the history that is left, so that it can be compared with an etcd's: CRC-32C of the
 * bucket `key`, each entry with its revision as the key (etcd's server/storage/mvcc). 0 stands for the newest revision.
 */
export async function hashHistory(engine: EtcdEngine, asked: number): Promise<HistoryHash> {
  const revision = engine.readable(asked)
  // Rows that a compaction has yet to remove do not count.
  await engine.compactionEnd()
  engine.readable(revision)
  const { compacted } = engine
  const everything = { from: Buffer.alloc(0), isOneKey: false }
  const hasKeys = engine.log.count({ range: everything, revision, limit: 1 }).count > 0
  // Whether a compaction has removed it yet must not matter, so etcd hashes of compacted rows only what is left of
  // them at the end.
  const isHashed = ({ key, version, revision: written }: LogRow): boolean => {
    if (version === 0 && written === compacted) return false
    const newest = hasKeys ? engine.log.head(key, revision)?.kv : undefined
    return !hasKeys || (newest?.modRevision === written && newest.version === version)
  }
  let hash = castagnoli(Buffer.from('key'))
  for (let after = 0; after < revision;) {
    const to = engine.log.sliceEnd(after, sliceRows, revision)
    for (const row of engine.log.rows(after + 1, to)) {
      if (row.revision <= compacted && !isHashed(row)) continue
      hash = castagnoli(valueOf(row), castagnoli(keyOf(row), hash))
    }
    after = to
    await nextTurn()
    engine.readable(revision)
  }
  return { hash, revision, compacted }
}

/** The revision and the place within it, each of eight bytes, with a mark after that of a delete. */
function keyOf({ revision, sub, version }: LogRow): Uint8Array {
  const key = Buffer.alloc(version === 0 ? 18 : 17)
  key.writeBigUInt64BE(BigInt(revision), 0)
  key.write('_', 8)
  key.writeBigUInt64BE(BigInt(sub), 9)
  if (version === 0) key.write('t', 17)
  return key
}

function valueOf(row: LogRow): Uint8Array {
  const { key, value, createRevision, revision: modRevision, version, lease } = row
  const kv = { key, value, createRevision, modRevision, version, lease }
  return encodeMessage('KeyValue', version === 0 ? { key } : kv).done()
}
