import type { Cluster as Api } from '@skerry/client'
import type { FollowedClusters } from '../../cluster/followed-clusters.ts'

/**
 * The control plane as one virtual cluster's agent sees it. Our hub lets the whole cluster's agent act
 * for all its virtual clusters; one that does not, as Karmada, wants an identity for each.
 */
export interface ChildHub {
  readonly hub: Api
  /** Absent: each Cluster is read by itself. */
  readonly clusters?: FollowedClusters
  /** Called when nothing of the virtual cluster is left there: its identity goes, too. May be called again. */
  readonly release?: (signal: AbortSignal) => Promise<void>
}

export type IdentityOf = (clusterName: string) => ChildHub
