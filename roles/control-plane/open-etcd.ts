import { openEtcdStore, type EtcdStore } from '@skerry/store'
import type { RoleContext } from '../runtime/role-context.ts'
import { etcdOptionsOf, type EtcdFlags } from './etcd-options.ts'

/** The store in etcd; imported only by those that have one: the client of etcd is large. */
export async function openEtcd(
  flags: EtcdFlags,
  { clock, random, log, signal }: RoleContext,
): Promise<EtcdStore> {
  const options = await etcdOptionsOf(flags)
  if (!options) throw new TypeError('Cannot open etcd: no server is named')
  return openEtcdStore(options, { clock, random, log }, signal)
}
