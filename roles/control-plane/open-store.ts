import { join } from 'node:path'
import type { Task } from '@skerry/base'
import { openSqliteStore, type Store } from '@skerry/store'
import type { RoleContext } from '../runtime/role-context.ts'
import { showStoreMetrics } from '../runtime/store-metrics.ts'
import { isInEtcd, type StoreOptions } from './store-options.ts'

/** A store that can be copied while it runs, or reports how else to back it up. */
export interface ControlPlaneStore extends Store {
  backup(targetPath: string): Promise<{ bytes: number; revision: number }>
  /** Waits for the signal, and then ends the waits for a store that is gone. If omitted, nobody waits for it. */
  untilStopping?: Task
}

export async function openStore(
  directory: string,
  options: StoreOptions,
  context: RoleContext,
): Promise<ControlPlaneStore> {
  const { clock, log, metrics } = context
  if (!isInEtcd(options)) {
    const path = join(directory, 'store.db')
    const store = await openSqliteStore(path, { hasReserve: true }, { clock, log })
    showStoreMetrics(metrics, () => store.counters)
    return store
  }
  const { openEtcd } = await import('./open-etcd.ts')
  return openEtcd(options.etcd ?? {}, context)
}
