import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { runAll, type Task } from '@skerry/base'
import type { Cluster } from '@skerry/client'
import {
  createVirtualClusters,
  createVirtualViews,
  leadInCluster,
  runWorks,
  type EdgeObserver,
  type IdentityOf,
  type ImpersonationPolicy,
  type VirtualClusters,
  type VirtualViews,
} from '@skerry/karmada'
import type { RoleContext } from './role-context.ts'

export interface AgentVirtualOptions {
  readonly clusterName: string
  readonly policy?: ImpersonationPolicy
  readonly hasVirtualClusters?: boolean | undefined
  /** Told of the views; absent: only VirtualClusters of the cluster have any. */
  readonly onViews?: (views: VirtualViews) => Task
}

interface AgentVirtualDeps {
  readonly hub: Cluster
  readonly local: Cluster
  readonly observer: EdgeObserver
  /** As whom each virtual cluster is at the control plane. */
  readonly identityOf: IdentityOf
  /** At our hub one watch follows all. */
  readonly isFollowed: boolean
}

/** What an agent needs to answer for virtual clusters; nothing where it has none. */
export function openVirtual(
  { clusterName, policy = {}, hasVirtualClusters = false, onViews }: AgentVirtualOptions,
  deps: AgentVirtualDeps,
  { clock, random, log }: RoleContext,
): { views?: VirtualViews; virtual?: VirtualClusters; tasks: readonly Task[] } {
  if (!hasVirtualClusters && onViews === undefined) return { tasks: [] }
  const given = { local: deps.local, clock, random, log }
  const held: { virtual?: VirtualClusters } = {}
  const find = (cluster: string) => held.virtual?.find(cluster)
  const views = createVirtualViews({ ...given, policy, find })
  if (hasVirtualClusters) {
    const parts = { ...deps, ...given, edge: views.edge }
    held.virtual = createVirtualClusters({ parent: clusterName }, parts)
  }
  return {
    ...held,
    views,
    tasks: [(scope) => views.run(scope), ...(onViews ? [onViews(views)] : [])],
  }
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
