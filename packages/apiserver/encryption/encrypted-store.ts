import {
  type Entry,
  type Store,
  type StoreEvent,
  type WatchBatch,
  type Write,
  type WriteResult,
} from '@skerry/store'
import { unreadableValue } from '../cache/unreadable-value.ts'
import type { EncryptionPlan } from './encryption-config.ts'
import { writeFenced, type KeyFence, type Sealed } from './key-fence.ts'
import type { TransformerChain } from './transformer-chain.ts'
import { UnreadableValueError } from './transformers/transformer.ts'

/** A store that decrypts values for its callers and encrypts them for the store below. */
export interface EncryptedStore extends Store {
  /** Takes effect for new writes; stored values stay as they are. */
  setPlan(plan: EncryptionPlan): void
  /** Resolves to true if a write of the same value would be stored differently, e.g. with a newer key. */
  isStale(key: string): Promise<boolean>
}

/**
 * Wraps any store for the registry. An unreadable value is replaced by the reason, which readers
 * find with `unreadableReason`.
 */
type StoredEntry = Pick<Entry, 'key' | 'value' | 'isDamaged'>

export function createEncryptedStore(
  store: Store,
  firstPlan: EncryptionPlan,
  fence?: KeyFence,
): EncryptedStore {
  let plan = firstPlan
  const chainOf = (key: string) => plan.chainFor(storageOf(key))
  const open = <T extends StoredEntry>(entry: T): T => {
    const chain = entry.isDamaged ? undefined : chainOf(entry.key)
    return chain ? { ...entry, value: opened(entry, chain) } : entry
  }
  /**
   * Returns a promise for keys that must be fetched before these entries are opened. Most providers
   * have theirs at hand.
   */
  const fetched = (entries: readonly (Entry | undefined)[]): Promise<unknown> | undefined => {
    if (!plan.isRemote) return undefined
    const waits = entries.flatMap(
      (entry) =>
        (entry?.isDamaged
          ? undefined
          : entry && plan.chainFor(storageOf(entry.key))?.fetch(entry.value)) ?? [],
    )
    return waits.length === 0 ? undefined : Promise.all(waits)
  }
  const sealed = <T extends { readonly key: string; readonly value?: Uint8Array }>(write: T): T => {
    const chain = write.value && chainOf(write.key)
    return chain && write.value ? { ...write, value: chain.seal(write.value, write.key) } : write
  }
  const sealedWrite = (write: Write): Sealed => {
    const { companions = [] } = write
    const isSealed = [write, ...companions].some(({ key, value }) => value && chainOf(key))
    return { write: { ...sealed(write), companions: companions.map(sealed) }, isSealed }
  }
  const openEvent = (event: StoreEvent): StoreEvent =>
    event.previous ? { ...open(event), previous: open(event.previous) } : open(event)
  const openBatch = (batch: WatchBatch): WatchBatch =>
    batch.events.length === 0 ? batch : { ...batch, events: batch.events.map(openEvent) }
  return {
    setPlan: (next) => void (plan = next),
    async isStale(key) {
      const { entry } = await store.get(key)
      return entry !== undefined && chainOf(key)?.isStale(entry.value) === true
    },
    revision: () => store.revision(),
    async get(key, revision) {
      const found = await store.get(key, revision)
      await fetched([found.entry])
      return found.entry ? { ...found, entry: open(found.entry) } : found
    },
    async list(options) {
      const found = await store.list(options)
      await fetched(found.entries)
      return { ...found, entries: found.entries.map(open) }
    },
    async write(write) {
      const result = await writeFenced(store, fence, () => sealedWrite(write))
      await fetched([entryIn(result)])
      return openResult(result, open)
    },
    async *watch(options, signal) {
      for await (const batch of store.watch(options, signal)) {
        await fetched(batch.events.flatMap((event) => [event, event.previous]))
        yield openBatch(batch)
      }
    },
    compact: (revision) => store.compact(revision),
    compactedRevision: () => store.compactedRevision(),
    grantLease: (ttlSeconds) => store.grantLease(ttlSeconds),
    keepLeaseAlive: (leaseId) => store.keepLeaseAlive(leaseId),
    revokeLease: (leaseId) => store.revokeLease(leaseId),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  }
}

function entryIn(result: WriteResult): Entry | undefined {
  return result.isApplied ? result.previous : result.current
}

function openResult(result: WriteResult, open: (entry: Entry) => Entry): WriteResult {
  if (result.isApplied) {
    return result.previous ? { ...result, previous: open(result.previous) } : result
  }
  return result.current ? { ...result, current: open(result.current) } : result
}

/** Leaves a value that cannot be read as it is: one bad object must not end every list and watch. */
function opened(entry: { key: string; value: Uint8Array }, chain: TransformerChain): Uint8Array {
  try {
    return chain.open(entry.value, entry.key)
  } catch (error) {
    if (!(error instanceof UnreadableValueError)) throw error
    return unreadableValue(error.message)
  }
}

/** Returns `<group>/<resource>` of a key under `/registry/`. */
function storageOf(key: string): string {
  const start = '/registry/'.length
  const groupEnd = key.indexOf('/', start)
  const resourceEnd = groupEnd < 0 ? -1 : key.indexOf('/', groupEnd + 1)
  return resourceEnd < 0 ? '' : key.slice(start, resourceEnd)
}
