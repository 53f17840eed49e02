import type { TypedResource } from '@skerry/client'
import { selected, type InformerSet } from '@skerry/controller-runtime'
import { workResource, type Work } from '@skerry/karmada-kinds'
import { clusterResource, executionNamespace, type Cluster } from '@skerry/fleet-kinds'

/**
 * Clusters that are watched together by one watch, and their Works by another. Each agent identity writes its
 * own objects; the identity of the informers creates missing ones.
 */
export interface FollowedClusters {
  readonly resource: TypedResource<Cluster>
  readonly works: TypedResource<Work>
  readonly informers: InformerSet
}

/** Watches one Cluster for everything that an agent does for it, and its Works once somebody asks for them. */
export function ownClusters(name: string, informers: InformerSet): FollowedClusters {
  return {
    resource: ownCluster(name),
    works: selected(workResource, { namespace: executionNamespace(name) }),
    informers,
  }
}

export function ownCluster(name: string): TypedResource<Cluster> {
  return selected(clusterResource, { fieldSelector: `metadata.name=${name}` })
}
