import type { ClusterClient } from '@skerry/client'
import type { FollowedClusters } from '@skerry/cluster-agent'

/** The hub's API as one virtual cluster sees it, under that cluster's own identity. */
export interface ChildHub {
  readonly hub: ClusterClient
  /**
   * Follows all of them with the rights of the edge cluster's agent. If omitted, each Cluster is read
   * separately.
   */
  readonly clusters?: FollowedClusters
  /**
   * Removes the virtual cluster's identity. Called once nothing of it is left on the hub; may be called
   * again.
   */
  readonly release?: (signal: AbortSignal) => Promise<void>
}

export type IdentityOf = (clusterName: string) => ChildHub
