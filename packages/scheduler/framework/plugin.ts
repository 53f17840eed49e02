import type {
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  DeviceClass,
  Namespace,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  ResourceClaim,
  StorageClass,
} from '@skerry/api'
import type { ClusterEvent } from './cluster-event.ts'
import type { NodeInfo } from './node-info.ts'
import type { PodInfo } from './pod-info.ts'

/** The world as one scheduling decision sees it; nothing in it changes while a pod is placed. */
export interface Snapshot {
  readonly nodes: readonly NodeInfo[]
  readonly node: (name: string) => NodeInfo | undefined
  /** Pods that wait for room which preemption makes on this node. */
  readonly nominated: (nodeName: string) => readonly PodInfo[]
  readonly namespace: (name: string) => Namespace | undefined
  readonly claim: (namespace: string, name: string) => PersistentVolumeClaim | undefined
  readonly volume: (name: string) => PersistentVolume | undefined
  readonly storageClass: (name: string) => StorageClass | undefined
  readonly csiNode: (name: string) => CSINode | undefined
  readonly volumes: () => readonly PersistentVolume[]
  readonly csiDriver: (name: string) => CSIDriver | undefined
  readonly storageCapacities: () => readonly CSIStorageCapacity[]
  readonly resourceClaim: (namespace: string, name: string) => ResourceClaim | undefined
  readonly deviceClass: (name: string) => DeviceClass | undefined
}

/** Why a node does not take the pod, in upstream's words; they are counted and shown in one message. */
export interface Refusal {
  readonly reasons: readonly string[]
  /** No eviction of other pods could change it. */
  readonly isUnresolvable: boolean
}

export interface PlacementContext {
  readonly pod: PodInfo
  readonly snapshot: Snapshot
}

/**
 * One aspect of a placement. A factory is called once per pod, so that what depends on the pod alone
 * is computed once; what it gives back is asked for each node.
 */
export interface Plugin {
  /** Upstream's plugin name. */
  readonly name: string
  /** The pod as a whole cannot be placed now; nodes are not even asked. */
  readonly preFilter?: (context: PlacementContext) => Refusal | undefined
  /** The only nodes that come into question; undefined: all. The others are not asked. */
  readonly candidates?: (context: PlacementContext) => ReadonlySet<string> | undefined
  /** Undefined from the factory: nothing to check for this pod. */
  readonly filter?: (context: PlacementContext) => NodeFilter | undefined
  /** Gets the nodes that are left as well. */
  readonly score?: (
    context: PlacementContext,
    feasible: readonly NodeInfo[],
  ) => NodeScore | undefined
  /** Upstream's default weight. */
  readonly weight?: number
  /** Whether a pod that this plugin refused is worth another try after the event; absent: never. */
  readonly isHelpedBy?: (event: ClusterEvent, pod: Pod) => boolean
}

export type NodeFilter = (node: NodeInfo) => Refusal | undefined

export interface NodeScore {
  /** Any number; higher is better unless `normalize` says otherwise. */
  readonly of: (node: NodeInfo) => number
  /** Brings the raw scores of the feasible nodes to 0..100. Absent: they are already there. */
  readonly normalize?: (scores: number[], nodes: readonly NodeInfo[]) => number[]
}

export const scoreMax = 100

export function refuse(...reasons: string[]): Refusal {
  return { reasons, isUnresolvable: false }
}

export function refuseForGood(...reasons: string[]): Refusal {
  return { reasons, isUnresolvable: true }
}

/** Upstream's default normalization: the best raw score becomes 100; `isReversed` when less is better. */
export function normalizeByMax(isReversed: boolean): (scores: number[]) => number[] {
  return (scores) => {
    const best = Math.max(0, ...scores)
    if (best === 0) return scores.map(() => (isReversed ? scoreMax : 0))
    return scores.map((score) => {
      const scaled = Math.floor((scoreMax * score) / best)
      return isReversed ? scoreMax - scaled : scaled
    })
  }
}
