import type { BindingSpec, ResourceBinding, TargetCluster } from '@skerry/karmada-kinds'
import type { Cluster } from '@skerry/fleet-kinds'

/** All that a placement follows from; the same input gives the same answer. */
export interface PlacementInput {
  readonly spec: BindingSpec
  /** What the last placement left; absent the first time. */
  readonly status?: PlacedBefore
  /** The whole fleet, those on their way out too. */
  readonly clusters: readonly Cluster[]
  /** Other bindings, for workload affinity; those of other namespaces and groups do not matter. */
  readonly others?: readonly ResourceBinding[]
  /** Whether a workload of no replicas goes to the clusters that it would go to; default no. */
  readonly placesEmptyWorkloads?: boolean
}

export interface PlacedBefore {
  readonly schedulerObservingAffinityName?: string
  readonly lastScheduledTime?: string
}

/** Reasons of the condition Scheduled, in Karmada's words. */
export type PlacementReason = 'Success' | 'NoClusterFit' | 'Unschedulable' | 'SchedulerError'

export interface PlacementResult {
  readonly reason: PlacementReason
  /** For the condition. */
  readonly message: string
  /**
   * Where it goes. Empty where no cluster fits: what was placed is taken back. Undefined where the
   * placement failed otherwise: what was placed stays.
   */
  readonly clusters: readonly TargetCluster[] | undefined
  /** Of placement.clusterAffinities, the one that the clusters come from. */
  readonly affinityName?: string
  /** Of each term that failed before, why; in their order. */
  readonly failures: readonly string[]
  /** By the term that the message is about: of each cluster that does not fit, why. */
  readonly diagnosis: readonly ClusterDiagnosis[]
}

export interface ClusterDiagnosis {
  readonly cluster: string
  /** In the filters' order; at least one. */
  readonly reasons: readonly string[]
}

/** Not even later, unless something changes: `NoClusterFit` has nothing to wait for. */
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
