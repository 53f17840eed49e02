import type { Cluster as Api } from '@skerry/client'
import type { FollowedClusters } from '@skerry/cluster-agent'

/** The control plane as one virtual cluster sees it, by an identity of its own. */
export interface ChildHub {
  readonly hub: Api
  /** Our hub shows all of them to the whole cluster's agent; absent: each Cluster is read by itself. */
  readonly clusters?: FollowedClusters
  /** Called when nothing of the virtual cluster is left there: its identity goes, too. May be called again. */
  readonly release?: (signal: AbortSignal) => Promise<void>
}

export type IdentityOf = (clusterName: string) => ChildHub
