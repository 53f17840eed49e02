import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { runAll, type Task } from '@skerry/base'
import type { Cluster } from '@skerry/client'
import { leadInCluster, runWorks } from '@skerry/cluster-agent'
import type { VirtualClusters } from '@skerry/virtual-clusters'
import type { RoleContext } from '../runtime/role-context.ts'
import type { AgentVirtual, AgentVirtualDeps, AgentVirtualOptions } from './agent-virtual.ts'

/** Nothing where an agent has no virtual clusters: it does not even load what they need, 1 MB in memory. */
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
  /** Groups of nodes as clusters of their own; absent: none. */
  readonly virtual: VirtualClusters | undefined
}

/** What an agent changes in its cluster. Of several agents of one cluster one does it at a time. */
export function agentWorks(
  { clusterName, appliesWorks, virtual }: AgentWorksOptions,
  { hub, local }: { hub: Cluster; local: Cluster },
  { clock, random, log }: RoleContext,
): Task[] {
  const deps = { hub, local, clock, random, log }
  const led: Task[] = [
    ...(appliesWorks ? [(scope: AbortSignal) => runWorks({ clusterName }, deps, scope)] : []),
    ...(virtual ? [(scope: AbortSignal) => virtual.lead(scope)] : []),
  ]
  if (led.length === 0) return []
  const identity = `${hostname()}_${randomUUID()}`
  return [
    ...(virtual ? [(scope: AbortSignal) => virtual.follow(scope)] : []),
    (scope) =>
      leadInCluster({ clusterName, identity }, deps, scope, (leading) => runAll(leading, led)),
  ]
}
