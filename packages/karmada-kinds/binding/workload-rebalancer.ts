import type { KubeObject } from '@skerry/api'
import type { TypedResource } from '@skerry/client'

/** An apps.karmada.io/v1alpha1 WorkloadRebalancer: a request to place some workloads again, once. */
export interface WorkloadRebalancer extends KubeObject {
  spec: {
    workloads: RebalancedWorkload[]
    /** The time after which it is deleted. If omitted, it stays. */
    ttlSecondsAfterFinished?: number
  }
  status?: {
    observedWorkloads?: ObservedWorkload[]
    observedGeneration?: number
    finishTime?: string
  }
}

export interface RebalancedWorkload {
  apiVersion: string
  kind: string
  /** Absent of a cluster-scoped object. */
  namespace?: string
  name: string
}

export interface ObservedWorkload {
  workload: RebalancedWorkload
  result?: 'Successful' | 'Failed'
  reason?: 'ReferencedBindingNotFound'
}

export const workloadRebalancerResource: TypedResource<WorkloadRebalancer> = Object.freeze({
  group: 'apps.karmada.io',
  version: 'v1alpha1',
  resource: 'workloadrebalancers',
  isNamespaced: false,
})
