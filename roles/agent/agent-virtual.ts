import type { Task } from '@skerry/base'
import type { ClusterClient } from '@skerry/client'
import type { EdgeObserver } from '@skerry/cluster-agent'
import type { ImpersonationPolicy } from '@skerry/membership'
import {
  createVirtualClusters,
  createVirtualViews,
  type IdentityOf,
  type VirtualClusters,
  type VirtualViews,
} from '@skerry/virtual-clusters'
import type { RoleContext } from '../runtime/role-context.ts'

export interface AgentVirtualOptions {
  readonly clusterName: string
  readonly policy?: ImpersonationPolicy
  readonly hasVirtualClusters?: boolean | undefined
  /** Receives the views. If omitted, only the cluster's VirtualClusters have views. */
  readonly onViews?: (views: VirtualViews) => Task
}

export interface AgentVirtualDeps {
  readonly hub: ClusterClient
  readonly local: ClusterClient
  readonly observer: EdgeObserver
  /** Returns the identity of each virtual cluster at the control plane. */
  readonly identityOf: IdentityOf
  /** True at our hub, where one watch covers all. */
  readonly isFollowed: boolean
}

export interface AgentVirtual {
  readonly views?: VirtualViews
  readonly virtual?: VirtualClusters
  readonly tasks: readonly Task[]
}

/**
 * Creates the parts with which an agent answers for virtual clusters. Only agents that may have some import
 * it.
 */
export function createAgentVirtual(
  { clusterName, policy = {}, hasVirtualClusters = false, onViews }: AgentVirtualOptions,
  deps: AgentVirtualDeps,
  { clock, random, log }: RoleContext,
): AgentVirtual {
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
