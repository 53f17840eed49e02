import type { KubeObject, Taint } from '@skerry/api'
import type { TypedResource } from '@skerry/client'
import type { ClusterAffinity } from './propagation-policy.ts'

/** policy.karmada.io/v1alpha1 ClusterTaintPolicy: which taints follow from which conditions of a cluster. */
export interface ClusterTaintPolicy extends KubeObject {
  spec: {
    /** If omitted, every cluster. */
    targetClusters?: ClusterAffinity
    /** All of the conditions must hold; an empty list never does. */
    addOnConditions?: ConditionMatch[]
    removeOnConditions?: ConditionMatch[]
    taints: Pick<Taint, 'key' | 'value' | 'effect'>[]
  }
}

export interface ConditionMatch {
  conditionType: string
  operator: 'In' | 'NotIn'
  statusValues: ('True' | 'False' | 'Unknown')[]
}

export const clusterTaintPolicyResource: TypedResource<ClusterTaintPolicy> = Object.freeze({
  group: 'policy.karmada.io',
  version: 'v1alpha1',
  resource: 'clustertaintpolicies',
  isNamespaced: false,
})
