import type { BindingSpec, ResourceBinding, TargetCluster } from '@skerry/karmada-kinds'
import type { Cluster } from '@skerry/fleet-kinds'

/** The complete input of a placement: equal inputs give equal results. */
export interface PlacementInput {
  readonly spec: BindingSpec
  /** The result of the last placement; omitted for the first one. */
  readonly status?: PlacedBefore
  /** The whole fleet, those on their way out too. */
  readonly clusters: readonly Cluster[]
  /** Other bindings, for workload affinity; those of other namespaces and groups do not matter. */
  readonly others?: readonly ResourceBinding[]
  /** Whether a workload with zero replicas still gets the clusters that it would get with some. Default: no. */
  readonly placesEmptyWorkloads?: boolean
}

export interface PlacedBefore {
  readonly schedulerObservingAffinityName?: string
  readonly lastScheduledTime?: string
}

/** The reasons of the condition Scheduled, in Karmada's words. */
export type PlacementReason = 'Success' | 'NoClusterFit' | 'Unschedulable' | 'SchedulerError'

export interface PlacementResult {
  readonly reason: PlacementReason
  /** The message of the condition. */
  readonly message: string
  /**
   * The clusters. Empty if none fits, which withdraws the object; undefined if the placement failed
   * otherwise, which leaves it where it is.
   */
  readonly clusters: readonly TargetCluster[] | undefined
  /** The term of placement.clusterAffinities that chose the clusters. */
  readonly affinityName?: string
  /** Why each term before it failed, in their order. */
  readonly failures: readonly string[]
  /** Why clusters do not fit, by the term that the message is about. */
  readonly diagnosis: readonly ClusterDiagnosis[]
}

export interface ClusterDiagnosis {
  readonly cluster: string
  /** The reasons, in the filters' order; at least one. */
  readonly reasons: readonly string[]
}

/** A failed placement. `NoClusterFit` is retried only when something changes, the other reasons also after a delay. */
export class PlacementError extends Error {
  override name = 'PlacementError'
  readonly reason: Exclude<PlacementReason, 'Success'>

  constructor(reason: Exclude<PlacementReason, 'Success'>, message: string) {
    super(message)
    this.reason = reason
  }
}

/** The same error, with what was being done in front, as upstream wraps its errors. */
export function whileDoing<T>(action: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof PlacementError)) throw error
    throw new PlacementError(error.reason, `${action}: ${error.message}`)
  }
}
