import { setImmediate as nextTurn } from 'node:timers/promises'
import { etcdServerBounds } from '../limits-table.ts'
import type { LogRow } from './engine-schema.ts'
import type { EtcdEngine } from './etcd-engine.ts'

const { sliceRows } = etcdServerBounds.engineRecords

/** All changes up to a revision. */
export interface EngineHistory {
  readonly revision: number
  readonly compacted: number
  /** The revision up to which compacted changes have been removed. */
  readonly scrubbed: number
  readonly leases: readonly { readonly id: bigint; readonly ttlSeconds: number }[]
  /** Yields all changes in order, in slices. */
  rows(): AsyncGenerator<LogRow[], void>
}

export function historyOf(
  engine: Pick<EtcdEngine, 'revision' | 'compacted' | 'leases' | 'log' | 'readable'>,
  scrubbed: number,
): EngineHistory {
  const { revision, compacted, log } = engine
  return {
    revision,
    compacted,
    scrubbed,
    leases: engine.leases.grants(),
    async *rows() {
      for (let after = 0; after < revision;) {
        // Throws if the engine was closed meanwhile.
        engine.readable(0)
        const to = log.sliceEnd(after, sliceRows, revision)
        yield log.rows(after + 1, to)
        after = to
        await nextTurn()
      }
    },
  }
}
