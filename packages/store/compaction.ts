import type { Clock } from '@skerry/base'
import { StoreUnavailableError } from './store-errors.ts'
import { CompactedError, type Store } from './store.ts'

export interface CompactionOptions {
  /** How long history is kept. Upstream's API server compacts every 5 minutes. */
  keepMs: number
  /** The number of revisions that are kept, however young. If omitted, only time limits them. */
  keepRevisions?: number
}

/** The number of samples per `keepMs`. History is kept for up to one sample longer. */
const samplesPerKeep = 5

/** Compacts the store forever. Ends by throwing the signal's reason. */
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

/** Returns undefined if the store's servers are unreachable; the next turn makes up for this one. */
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
    // Another server on the same store was faster, nothing was written since, or the store is
    // unreachable.
    if (error instanceof CompactedError || error instanceof StoreUnavailableError) return
    throw error
  }
}
