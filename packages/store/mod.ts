/**
 * store: revisioned key-value log. Opaque bytes under keys; it knows nothing of Kubernetes objects.
 * Start reading at store.ts (the contract), then sqlite-store.ts.
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
