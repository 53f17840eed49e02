/**
 * etcd-snapshot: the file that `etcdctl snapshot save` writes and that etcd keeps as its database: a tree of pages
 * (bbolt) with a history of keys, and a checksum. It reads files of strangers, and knows neither stores nor servers.
 * Start reading at snapshot-writer.ts and snapshot-reader.ts, then bolt/bolt-layout.ts.
 */
export { writeSnapshot, type SnapshotSource } from './snapshot-writer.ts'
export { openSnapshot, type Snapshot } from './snapshot-reader.ts'
export type { EtcdLease, EtcdRecord } from './records/etcd-record.ts'
