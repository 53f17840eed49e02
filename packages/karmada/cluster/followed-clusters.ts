import type { TypedResource } from '@skerry/client'
import type { InformerSet } from '@skerry/controller-runtime'
import type { Cluster } from './cluster.ts'

/** Clusters that are followed together, by one watch. */
export interface FollowedClusters {
  readonly resource: TypedResource<Cluster>
  readonly informers: InformerSet
}
