import {
  StoreUnavailableError,
  type RequiredRevision,
  type Store,
  type Write,
  type WriteResult,
} from '@skerry/store'
import { apiServerBounds } from '../limits-table.ts'

/**
 * Keeps servers that share a store from writing with keys that are no longer in use: each encrypted write applies only
 * while the record of the keys has the revision at which this server read it.
 */
export interface KeyFence {
  /** The record as this server has read it; undefined while the keys are its own. */
  required(): RequiredRevision | undefined
  /** Reads the record again and puts its keys to use. */
  renew(): Promise<void>
}

/** A write as the store gets it. */
export interface Sealed {
  readonly write: Write
  /** True if any of its values is encrypted. */
  readonly isSealed: boolean
}

const { fenceTriesMax } = apiServerBounds.keyFence

/** Seals again with the newest keys if the record of the keys has changed. */
export async function writeFenced(
  store: Store,
  fence: KeyFence | undefined,
  seal: () => Sealed,
): Promise<WriteResult> {
  for (let tries = 1; ; tries += 1) {
    const { write, isSealed } = seal()
    const required = isSealed ? fence?.required() : undefined
    const requires = [...(write.requires ?? []), ...(required ? [required] : [])]
    const result = await store.write(required ? { ...write, requires } : write)
    const isFenced = !result.isApplied && result.refusedBy === required?.key
    if (!required || !isFenced) return result
    if (tries >= fenceTriesMax) {
      const options = { isSent: false }
      throw new StoreUnavailableError('Cannot encrypt: the keys have changed', options)
    }
    await fence?.renew()
  }
}
