import type { TypedResource } from '@skerry/client'
import type { InformerSet } from '@skerry/controller-runtime'
import type { Work } from '@skerry/karmada-kinds'
import type { Cluster } from '@skerry/fleet-kinds'

/**
 * Clusters that are watched together by one watch, and their Works by another. Each agent identity writes its
 * own objects; the identity of the informers creates missing ones.
 */
export interface FollowedClusters {
  readonly resource: TypedResource<Cluster>
  readonly works: TypedResource<Work>
  readonly informers: InformerSet
}
