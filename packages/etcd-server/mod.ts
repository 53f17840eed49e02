/**
 * etcd-server: etcd's v3 API, served by one member on an embedded store of its own.
 * Start reading at services/etcd-services.ts (what is served), then engine/etcd-engine.ts (what a revision is).
 */
export { openEtcdServer, type EtcdServer, type EtcdServerOptions } from './etcd-server.ts'
export { type ListeningServer, type TlsFiles } from './grpc/grpc-server.ts'
export { saveStore } from './snapshots/save-store.ts'
export { storeFromSnapshot } from './snapshots/store-from-snapshot.ts'
