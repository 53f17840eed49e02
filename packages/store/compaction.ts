import type { Clock } from '@skerry/base'
import { StoreUnavailableError } from './store-errors.ts'
import { CompactedError, type Store } from './store.ts'

export interface CompactionOptions {
  /** How long history is kept; upstream's API server compacts every 5 minutes. */
  keepMs: number
  /** At most this many revisions are kept, however young; absent: no such bound. */
  keepRevisions?: number
}

export const compactionDefaults: Readonly<CompactionOptions> = Object.freeze({ keepMs: 300_000 })

/** Samples per `keepMs`: history is kept for up to one sample longer. */
const samplesPerKeep = 5

/** Compacts the store forever; ends by throwing the signal's reason. */
export async function runCompaction(
  store: Pick<Store, 'revision' | 'compact'>,
  options: CompactionOptions,
  clock: Clock,
  signal: AbortSignal,
): Promise<never> {
  const { keepMs, keepRevisions = Infinity } = options
  const samples: number[] = []
  for (;;) {
    await clock.sleep(keepMs / samplesPerKeep, signal)
    const newest = await newestOf(store)
    if (newest === undefined) continue
    samples.push(newest)
    const byAge = samples.length > samplesPerKeep ? (samples.shift() ?? 0) : 0
    const target = Math.max(byAge, newest - keepRevisions)
    if (target > 0) await compactTo(store, target)
  }
}

/** Absent: the store's servers are away, and the next turn makes up for this one. */
async function newestOf(store: Pick<Store, 'revision'>): Promise<number | undefined> {
  try {
    return await store.revision()
  } catch (error) {
    if (error instanceof StoreUnavailableError) return undefined
    throw error
  }
}

async function compactTo(store: Pick<Store, 'compact'>, revision: number): Promise<void> {
  try {
    await store.compact(revision)
  } catch (error) {
    // Another server on the same store was faster, nothing was written since, or it is away.
    if (error instanceof CompactedError || error instanceof StoreUnavailableError) return
    throw error
  }
}
