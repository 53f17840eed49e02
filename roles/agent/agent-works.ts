import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { runAll, type Task } from '@skerry/base'
import type { ClusterClient } from '@skerry/client'
import { leadInCluster, runWorks, type FollowedClusters } from '@skerry/cluster-agent'
import type { VirtualClusters } from '@skerry/virtual-clusters'
import type { RoleContext } from '../runtime/role-context.ts'
import type { AgentVirtual, AgentVirtualDeps, AgentVirtualOptions } from './agent-virtual.ts'

/** Loads nothing if the agent has no virtual clusters: their code takes 1 MB of memory. */
export async function openVirtual(
  options: AgentVirtualOptions,
  deps: AgentVirtualDeps,
  context: RoleContext,
): Promise<AgentVirtual> {
  if (!options.hasVirtualClusters && options.onViews === undefined) return { tasks: [] }
  const { createAgentVirtual } = await import('./agent-virtual.ts')
  return createAgentVirtual(options, deps, context)
}

export interface AgentWorksOptions {
  readonly clusterName: string
  /** The whole cluster's own. */
  readonly appliesWorks: boolean
  /** The systems whose applications in groups of nodes are served. */
  readonly edgeApps: readonly string[]
  /** The virtual clusters. If undefined, the agent has none. */
  readonly virtual: VirtualClusters | undefined
}

export interface AgentWorksDeps {
  readonly hub: ClusterClient
  readonly local: ClusterClient
  /** The watch of its own Cluster. If omitted, its Works have one of their own. */
  readonly clusters?: FollowedClusters
}

/** Returns the tasks that change the agent's cluster. Only one of a cluster's agents runs them at a time. */
export function agentWorks(
  { clusterName, appliesWorks, edgeApps, virtual }: AgentWorksOptions,
  { hub, local, clusters }: AgentWorksDeps,
  { clock, random, log }: RoleContext,
): Task[] {
  const deps = { hub, local, clock, random, log }
  const shared = clusters ? { clusters } : {}
  const led: Task[] = [
    ...(appliesWorks
      ? [(scope: AbortSignal) => runWorks({ clusterName }, { ...deps, ...shared }, scope)]
      : []),
    ...(virtual ? [(scope: AbortSignal) => virtual.lead(scope)] : []),
    ...(edgeApps.length > 0 ? [edgeAppsTask(edgeApps, local, { clock, random, log })] : []),
  ]
  if (led.length === 0) return []
  const identity = `${hostname()}_${randomUUID()}`
  return [
    ...(virtual ? [(scope: AbortSignal) => virtual.follow(scope)] : []),
    (scope) =>
      leadInCluster({ clusterName, identity }, deps, scope, (leading) => runAll(leading, led)),
  ]
}

/** The code is loaded by the agent that leads. */
function edgeAppsTask(
  systems: readonly string[],
  cluster: ClusterClient,
  deps: Pick<RoleContext, 'clock' | 'random' | 'log'>,
): Task {
  return async (signal) => {
    const { runAgentEdgeApps } = await import('./agent-edge-apps.ts')
    await runAgentEdgeApps(systems, { cluster }, deps, signal)
  }
}
