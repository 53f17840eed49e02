/**
 * store: a revisioned key-value log. Values are opaque bytes; it knows nothing of Kubernetes objects.
 * Start reading at store.ts (the contract), then sqlite-store.ts (one server) and etcd/etcd-store.ts
 * (several).
 */
export { compactionDefaults } from './limits-table.ts'
export {
  CompactedError,
  FutureRevisionError,
  SlowWatcherError,
  type CompanionWrite,
  type Entry,
  type RequiredRevision,
  type Store,
  type StoreEvent,
  type WatchBatch,
  type Write,
  type WriteResult,
} from './store.ts'
export { openSqliteStore, type SqliteStore } from './sqlite-store.ts'
export { saveSnapshotOf, saveSnapshotParts } from './etcd/etcd-snapshot.ts'
export { openEtcdStore, type EtcdStore, type EtcdStoreOptions } from './etcd/etcd-store.ts'
export type { EtcdEndpoints } from './etcd/etcd-channel.ts'
export { EtcdMemberClient, type EtcdMember, type EtcdMemberStatus } from './etcd/etcd-cluster.ts'
export { restoreSqliteStore } from './sqlite-backup.ts'
export { openStoreRows, type StoreRow, type StoreRows } from './store-rows.ts'
export {
  createStoreFromRows,
  type ForeignHistory,
  type ForeignRow,
  type StoreFromRows,
} from './store-from-rows.ts'
export { runCompaction } from './compaction.ts'
export { takeStoreLock } from './store-lock.ts'
export { takeFileTurn } from './file-turn.ts'
export { inTransaction, pragma, sqliteFault, type Database } from './sqlite-database.ts'
export { closeStoreFile, openStoreFile } from './store-file.ts'
export { readMeta, writeMeta, type FileSchema } from './file-schema.ts'
export { GroupCommit, type Transaction } from './group-commit.ts'
export { WriteMeter, type StoreCounters } from './write-meter.ts'
export { DiskReserve } from './disk-reserve.ts'
export {
  StoreBusyError,
  StoreClosedError,
  StoreFullError,
  StoreUnavailableError,
} from './store-errors.ts'
export { schemaVersion } from './sqlite-schema.ts'
