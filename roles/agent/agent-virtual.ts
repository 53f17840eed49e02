import type { Task } from '@skerry/base'
import type { Cluster } from '@skerry/client'
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
  /** Told of the views; absent: only VirtualClusters of the cluster have any. */
  readonly onViews?: (views: VirtualViews) => Task
}

export interface AgentVirtualDeps {
  readonly hub: Cluster
  readonly local: Cluster
  readonly observer: EdgeObserver
  /** As whom each virtual cluster is at the control plane. */
  readonly identityOf: IdentityOf
  /** At our hub one watch follows all. */
  readonly isFollowed: boolean
}

export interface AgentVirtual {
  readonly views?: VirtualViews
  readonly virtual?: VirtualClusters
  readonly tasks: readonly Task[]
}

/** What an agent needs to answer for virtual clusters. Imported by those alone that may have some. */
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
