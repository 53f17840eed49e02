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

/** The cluster's state for one scheduling decision. It does not change while a pod is placed. */
export interface Snapshot {
  readonly nodes: readonly NodeInfo[]
  readonly node: (name: string) => NodeInfo | undefined
  /** Returns pods that wait for room that preemption makes on this node. */
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

/**
 * The reasons why a node does not accept the pod, in upstream's words. They are counted and shown
 * in one message.
 */
export interface Refusal {
  readonly reasons: readonly string[]
  /** True if evicting other pods would not help. */
  readonly isUnresolvable: boolean
}

export interface PlacementContext {
  readonly pod: PodInfo
  readonly snapshot: Snapshot
}

/**
 * One aspect of a placement. A factory is called once per pod, so that values that depend only on
 * the pod are computed once. The returned function is called for each node.
 */
export interface Plugin {
  /** Upstream's plugin name. */
  readonly name: string
  /** Returns a refusal if the pod as a whole cannot be placed now; no node is checked then. */
  readonly preFilter?: (context: PlacementContext) => Refusal | undefined
  /** Returns the only possible nodes, or undefined if all are. Others are not checked. */
  readonly candidates?: (context: PlacementContext) => ReadonlySet<string> | undefined
  /** The factory returns undefined if there is nothing to check for this pod. */
  readonly filter?: (context: PlacementContext) => NodeFilter | undefined
  /** The factory also gets the feasible nodes. */
  readonly score?: (
    context: PlacementContext,
    feasible: readonly NodeInfo[],
  ) => NodeScore | undefined
  /** Upstream's default weight. */
  readonly weight?: number
  /**
   * Returns true if a pod that this plugin refused is worth another try after the event. If
   * omitted, it never is.
   */
  readonly isHelpedBy?: (event: ClusterEvent, pod: Pod) => boolean
}

export type NodeFilter = (node: NodeInfo) => Refusal | undefined

export interface NodeScore {
  /** Returns any number; higher is better unless `normalize` reverses it. */
  readonly of: (node: NodeInfo) => number
  /** Scales the raw scores of the feasible nodes to 0..100. If omitted, they are already in that range. */
  readonly normalize?: (scores: number[], nodes: readonly NodeInfo[]) => number[]
}

export const scoreMax = 100

export function refuse(...reasons: string[]): Refusal {
  return { reasons, isUnresolvable: false }
}

export function refuseForGood(...reasons: string[]): Refusal {
  return { reasons, isUnresolvable: true }
}

/**
 * Returns upstream's default normalization: the best raw score becomes 100. `isReversed` means that
 * less is better.
 */
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
