import { randomUUID } from 'node:crypto'
import type { Clock, Timer } from '@skerry/base'
import { LeaseNotFoundError } from './store-errors.ts'
import type { Store } from './store.ts'
import { storeLockDefaults } from './limits-table.ts'

/**
 * Waits until no other process on this store holds the lock, then holds it until disposed. The lock
 * of a dead process expires with its lease. Rejects with the signal's reason.
 */
export async function takeStoreLock(
  store: Store,
  key: string,
  { clock }: { clock: Clock },
  signal: AbortSignal,
): Promise<AsyncDisposable> {
  for (;;) {
    signal.throwIfAborted()
    const attempt = await tryLock(store, key)
    if (attempt.leaseId !== undefined) return heldLock(store, attempt.leaseId, clock)
    await untilGone(store, { key, afterRevision: attempt.revision }, signal)
  }
}

async function tryLock(
  store: Store,
  key: string,
): Promise<{ leaseId: number } | { leaseId?: undefined; revision: number }> {
  const { leaseId } = await store.grantLease(storeLockDefaults.ttlSeconds)
  // Each holder's value is its own: a write whose answer was lost is told by its value.
  const value = Buffer.from(randomUUID())
  const result = await store.write({ key, value, expectRevision: 0, leaseId })
  if (result.isApplied) return { leaseId }
  await revoke(store, leaseId)
  return { revision: result.revision }
}

async function revoke(store: Store, leaseId: number): Promise<void> {
  try {
    await store.revokeLease(leaseId)
  } catch (error) {
    // It expired meanwhile, with the same result.
    if (!(error instanceof LeaseNotFoundError)) throw error
  }
}

async function untilGone(
  store: Store,
  { key, afterRevision }: { key: string; afterRevision: number },
  signal: AbortSignal,
): Promise<void> {
  for await (const { events } of store.watch({ prefix: key, afterRevision }, signal)) {
    if (events.some((event) => event.key === key && event.type === 'delete')) return
  }
}

function heldLock(store: Store, leaseId: number, clock: Clock): AsyncDisposable {
  let timer: Timer | undefined
  const renewLater = (): void => {
    timer = clock.setTimer(storeLockDefaults.renewMs, () => {
      // A failed renewal is tried again at the next turn; the lease lasts for three of them.
      void store.keepLeaseAlive(leaseId).then(ignored, ignored)
      renewLater()
    })
  }
  renewLater()
  return {
    async [Symbol.asyncDispose]() {
      timer?.[Symbol.dispose]()
      await revoke(store, leaseId)
    },
  }
}

function ignored(): void {}
