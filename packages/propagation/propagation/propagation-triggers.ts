import type { KubeObject } from '@skerry/api'
import type { TypedResource } from '@skerry/client'
import {
  clusterPropagationPolicyResource,
  clusterResourceBindingResource,
  clusterTaintPolicyResource,
  propagationPolicyResource,
  resourceBindingResource,
} from '@skerry/karmada-kinds'

/**
 * The kinds whose first object needs the controllers of this package: a propagation or taint policy, or a binding of a
 * former one. Until then a hub need neither load nor watch anything else.
 */
export const propagationTriggers: readonly TypedResource<KubeObject>[] = [
  propagationPolicyResource,
  clusterPropagationPolicyResource,
  resourceBindingResource,
  clusterResourceBindingResource,
  clusterTaintPolicyResource,
]
