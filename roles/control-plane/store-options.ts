import type { EtcdFlags } from './etcd-options.ts'

/** The place of a control plane's state. */
export interface StoreOptions {
  /** The store's etcd; without servers, the state is in store.db. */
  etcd?: EtcdFlags
  /** True starts with an empty store even if there are keys. */
  newStore?: boolean | undefined
}

export function isInEtcd({ etcd }: StoreOptions): boolean {
  return (etcd?.etcdServers ?? []).length > 0
}
