import { runAll } from '@skerry/base'
import { createEventSink, type ClusterClient } from '@skerry/client'
import { createInformerSet } from '@skerry/controller-runtime'
import { runEdgeApps, runServiceTraffic } from '@skerry/edge-apps'
import type { RoleContext } from '../runtime/role-context.ts'

/**
 * Serves applications of these systems in the agent's cluster, with the agent's own rights. The nodes have the service
 * proxies of others.
 */
export async function runAgentEdgeApps(
  systems: readonly string[],
  { cluster }: { readonly cluster: ClusterClient },
  { clock, random, log }: Pick<RoleContext, 'clock' | 'random' | 'log'>,
  signal: AbortSignal,
): Promise<void> {
  const deps = { clock, random, log }
  const informers = createInformerSet(cluster, deps)
  const events = createEventSink(cluster, deps)
  const controllers = { ...deps, cluster, informers, events }
  await runAll(signal, [
    (scope) => informers.run(scope),
    (scope) => events.run(scope),
    (scope) => runEdgeApps(systems, controllers, scope),
    (scope) => runServiceTraffic(controllers, scope),
  ])
}
