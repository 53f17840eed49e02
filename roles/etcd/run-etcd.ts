import { runAll, unlessAborted } from '@skerry/base'
import { reportReady, type RoleContext } from '../runtime/role-context.ts'
import { serveEtcd, type EtcdRoleOptions } from './serve-etcd.ts'

/** Serves etcd's API until the context's signal aborts. */
export async function runEtcd(options: EtcdRoleOptions, context: RoleContext): Promise<void> {
  await using etcd = await serveEtcd(options, context)
  reportReady()
  // etcd's own words: programs that start an etcd wait for this line.
  context.log.info('ready to serve client requests')
  await runAll(context.signal, [
    (scope) => unlessAborted(new Promise<never>(() => {}), scope),
    ...etcd.tasks,
  ])
}
