import type { Clock } from '@skerry/base'
import { TransactionTooLargeError } from '../engine/engine-errors.ts'
import type { EngineTransaction } from '../engine/engine-transaction.ts'
import type { KeyRange } from '../engine/key-range.ts'
import type { KeyValue } from '../engine/key-value.ts'
import { etcdServerBounds } from '../limits-table.ts'
import type { MessageDraft } from '../wire/etcd-messages-table.ts'

const { turnMs, bytesMax, keyValueBytes } = etcdServerBounds.txnBudget

/**
 * The time and the memory that one transaction may take: it runs in one turn of the event loop, in which nobody else is
 * served, and what it reads is in memory until its answer is sent. A request of some kilobytes may read the whole store
 * thousands of times.
 */
export class TxnBudget {
  readonly #clock: Clock
  readonly #untilMs: number
  #bytesLeft = bytesMax

  constructor(clock: Clock) {
    this.#clock = clock
    this.#untilMs = clock.monotonicMs() + turnMs
  }

  /** Call this before each step. Throws TransactionTooLargeError. */
  check(): void {
    if (this.#clock.monotonicMs() <= this.#untilMs) return
    throw new TransactionTooLargeError(
      `Cannot run the transaction: it takes more than ${turnMs} ms; divide it, or read outside of it`,
    )
  }

  /** Returns the entries of a range, at most `limit`. Throws TransactionTooLargeError. */
  read(
    transaction: EngineTransaction,
    range: KeyRange,
    { revision, limit }: { revision: number; limit: number },
  ): KeyValue[] {
    // The values alone are counted while they are read.
    const countMax = Math.floor(this.#bytesLeft / keyValueBytes) + 1
    const most = { limit: Math.min(limit, countMax), bytesMax: this.#bytesLeft + 1 }
    const kvs = transaction.read(range, { revision, ...most })
    if (sizeOf(kvs) > this.#bytesLeft) throw tooMuch()
    return kvs
  }

  /** Counts entries that become part of the answer. Throws TransactionTooLargeError. */
  keep(kvs: readonly (KeyValue | MessageDraft<'KeyValue'>)[]): void {
    this.#bytesLeft -= sizeOf(kvs)
    if (this.#bytesLeft < 0) throw tooMuch()
  }
}

function sizeOf(kvs: readonly (KeyValue | MessageDraft<'KeyValue'>)[]): number {
  return kvs.reduce(
    (sum, { key, value }) => sum + keyValueBytes + (key?.length ?? 0) + (value?.length ?? 0),
    0,
  )
}

function tooMuch(): TransactionTooLargeError {
  return new TransactionTooLargeError(
    `Cannot run the transaction: it reads more than ${bytesMax} bytes; divide it, or read outside of it`,
  )
}
