import type { TypedResource } from '@skerry/client'
import type { InformerSet } from '@skerry/controller-runtime'
import type { Work } from '@skerry/karmada-kinds'
import type { Cluster } from '@skerry/fleet-kinds'

/**
 * Clusters that are followed together by one watch, and their Works by another. Each writes its own in its
 * own name; whoever follows them makes those that are not there yet, in the name of the informers.
 */
export interface FollowedClusters {
  readonly resource: TypedResource<Cluster>
  readonly works: TypedResource<Work>
  readonly informers: InformerSet
}
