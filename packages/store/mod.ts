/**
 * store: revisioned key-value log. Opaque bytes under keys; it knows nothing of Kubernetes objects.
 * Start reading at store.ts (the contract), then sqlite-store.ts (one server) and etcd/etcd-store.ts
 * (several).
 */
export {
  CompactedError,
  FutureRevisionError,
  SlowWatcherError,
  type Entry,
  type ListOptions,
  type ListResult,
  type Store,
  type StoreEvent,
  type WatchBatch,
  type WatchOptions,
  type Write,
  type WriteResult,
} from './store.ts'
export {
  LeaseNotFoundError,
  StoreBusyError,
  StoreClosedError,
  StoreFullError,
  StoreUnavailableError,
  ValueTooLargeError,
} from './store-errors.ts'
export {
  openSqliteStore,
  type SqliteStore,
  type SqliteStoreDeps,
  type SqliteStoreOptions,
} from './sqlite-store.ts'
export {
  openEtcdStore,
  type EtcdStore,
  type EtcdStoreDeps,
  type EtcdStoreOptions,
} from './etcd/etcd-store.ts'
export type { EtcdEndpoints, EtcdTls } from './etcd/etcd-channel.ts'
export { restoreSqliteStore, type RestoreOptions, type RestoreResult } from './sqlite-backup.ts'
export { compactionDefaults, runCompaction, type CompactionOptions } from './compaction.ts'
export { storeLockDefaults, takeStoreLock } from './store-lock.ts'
export { takeFileTurn } from './file-turn.ts'
export { storeLimitDefaults, type StoreLimits } from './store-limits.ts'
export { sqliteFault, type SqliteFault } from './sqlite-database.ts'
export type { CheckPolicy } from './store-file.ts'
