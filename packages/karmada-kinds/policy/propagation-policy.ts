import type { KubeObject, LabelSelectorFields, Toleration } from '@skerry/api'
import type { TypedResource } from '@skerry/client'

/** policy.karmada.io/v1alpha1 PropagationPolicy or ClusterPropagationPolicy: which objects go to which clusters. */
export interface PropagationPolicy extends KubeObject {
  spec: PropagationSpec
}

export interface PropagationSpec {
  resourceSelectors: ResourceSelector[]
  propagateDeps?: boolean
  placement?: Placement
  priority?: number
  preemption?: 'Always' | 'Never'
  dependentOverrides?: string[]
  schedulerName?: string
  failover?: FailoverBehavior
  conflictResolution?: ConflictResolution
  activationPreference?: 'Lazy'
  suspension?: Suspension
  preserveResourcesOnDeletion?: boolean
  schedulePriority?: { priorityClassSource: string; priorityClassName: string }
}

export type ConflictResolution = 'Abort' | 'Overwrite'

/** Selects objects. Without name and labelSelector, every object of the kind. */
export interface ResourceSelector {
  apiVersion: string
  kind: string
  namespace?: string
  name?: string
  labelSelector?: LabelSelectorFields
}

export interface Suspension {
  dispatching?: boolean
  dispatchingOnClusters?: { clusterNames?: string[] }
}

export interface Placement {
  clusterAffinity?: ClusterAffinity
  /** Tried in their order. */
  clusterAffinities?: ClusterAffinityTerm[]
  clusterTolerations?: Toleration[]
  spreadConstraints?: SpreadConstraint[]
  replicaScheduling?: ReplicaScheduling
  workloadAffinity?: {
    affinity?: { groupByLabelKey: string }
    antiAffinity?: { groupByLabelKey: string }
  }
}

export interface ClusterAffinity {
  labelSelector?: LabelSelectorFields
  fieldSelector?: {
    matchExpressions?: { key: string; operator: string; values?: string[] }[]
  }
  clusterNames?: string[]
  exclude?: string[]
}

export interface ClusterAffinityTerm extends ClusterAffinity {
  affinityName: string
  overflowAffinities?: (ClusterAffinity & { affinityName: string })[]
}

export interface SpreadConstraint {
  spreadByField?: 'cluster' | 'region' | 'zone' | 'provider'
  spreadByLabel?: string
  minGroups?: number
  maxGroups?: number
}

export interface ReplicaScheduling {
  replicaSchedulingType?: 'Duplicated' | 'Divided'
  replicaDivisionPreference?: 'Aggregated' | 'Weighted'
  weightPreference?: {
    staticWeightList?: { targetCluster: ClusterAffinity; weight: number }[]
    dynamicWeight?: 'AvailableReplicas'
  }
}

export type PurgeMode =
  | 'Immediately'
  | 'Graciously'
  | 'Never'
  /** The names of both before 1.15. */
  | 'Directly'
  | 'Gracefully'

export interface FailoverBehavior {
  application?: {
    decisionConditions: { tolerationSeconds?: number }
    purgeMode?: PurgeMode
    gracePeriodSeconds?: number
    statePreservation?: StatePreservation
  }
  cluster?: { purgeMode?: PurgeMode; statePreservation?: StatePreservation }
}

export interface StatePreservation {
  rules: { aliasLabelName: string; jsonPath: string }[]
}

const policyGroup = { group: 'policy.karmada.io', version: 'v1alpha1' } as const

export const propagationPolicyResource: TypedResource<PropagationPolicy> = Object.freeze({
  ...policyGroup,
  resource: 'propagationpolicies',
  isNamespaced: true,
})

export const clusterPropagationPolicyResource: TypedResource<PropagationPolicy> = Object.freeze({
  ...policyGroup,
  resource: 'clusterpropagationpolicies',
  isNamespaced: false,
})
