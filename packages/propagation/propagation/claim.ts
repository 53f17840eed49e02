import type { KubeObject } from '@skerry/api'
import type { ObjectKey, TypedResource } from '@skerry/client'
import {
  clusterPropagationPolicyResource,
  propagationPolicyResource,
  type PropagationPolicy,
} from '@skerry/karmada-kinds'

/** The differences between policies of a namespace and cluster-scoped ones. */
export interface PolicyScope {
  readonly resource: TypedResource<PropagationPolicy>
  /** Set on a policy while objects may be claimed by it. */
  readonly finalizer: string
  /** The label of a policy's id, on the policy, its claimed objects and their bindings. */
  readonly idLabel: string
  readonly nameAnnotation: string
  readonly namespaceAnnotation?: string
}

export const namespacedPolicies: PolicyScope = Object.freeze({
  resource: propagationPolicyResource,
  finalizer: 'karmada.io/propagation-policy-controller',
  idLabel: 'propagationpolicy.karmada.io/permanent-id',
  nameAnnotation: 'propagationpolicy.karmada.io/name',
  namespaceAnnotation: 'propagationpolicy.karmada.io/namespace',
})

export const clusterPolicies: PolicyScope = Object.freeze({
  resource: clusterPropagationPolicyResource,
  finalizer: 'karmada.io/cluster-propagation-policy-controller',
  idLabel: 'clusterpropagationpolicy.karmada.io/permanent-id',
  nameAnnotation: 'clusterpropagationpolicy.karmada.io/name',
})

/** An object's own record of the policy that claims it. */
export interface Claim {
  readonly scope: PolicyScope
  readonly policy: ObjectKey
  readonly id: string
}

function policyScopeOf({ metadata }: PropagationPolicy): PolicyScope {
  return metadata.namespace ? namespacedPolicies : clusterPolicies
}

/** Returns undefined if no policy has claimed the object. A claim of a namespace's policy comes first. */
export function claimOf({ metadata }: KubeObject): Claim | undefined {
  const { labels = {}, annotations = {} } = metadata
  for (const scope of [namespacedPolicies, clusterPolicies]) {
    const id = labels[scope.idLabel]
    const name = annotations[scope.nameAnnotation]
    const namespace = scope.namespaceAnnotation && annotations[scope.namespaceAnnotation]
    if (!id || !name || (scope.namespaceAnnotation && !namespace)) continue
    return { scope, id, policy: { name, ...(namespace ? { namespace } : {}) } }
  }
  return undefined
}

/** Returns the labels and annotations by which a policy claims an object. */
export function claimMetadata(policy: PropagationPolicy): {
  labels: Record<string, string>
  annotations: Record<string, string>
} {
  const scope = policyScopeOf(policy)
  const { name = '', namespace = '' } = policy.metadata
  return {
    labels: { [scope.idLabel]: policyId(policy) },
    annotations: {
      [scope.nameAnnotation]: name,
      ...(scope.namespaceAnnotation ? { [scope.namespaceAnnotation]: namespace } : {}),
    },
  }
}

/** Returns an empty string until the API server has assigned an id. */
export function policyId(policy: PropagationPolicy): string {
  return policy.metadata.labels?.[policyScopeOf(policy).idLabel] ?? ''
}

export function isClaimedBy(object: KubeObject, policy: PropagationPolicy): boolean {
  const claim = claimOf(object)
  const id = policyId(policy)
  return id !== '' && claim?.id === id && claim.scope === policyScopeOf(policy)
}

/** A merge patch of metadata that takes a claim away. */
export function releasePatch({ idLabel, nameAnnotation, namespaceAnnotation }: PolicyScope): {
  labels: Record<string, null>
  annotations: Record<string, null>
} {
  return {
    labels: { [idLabel]: null },
    annotations: {
      [nameAnnotation]: null,
      ...(namespaceAnnotation ? { [namespaceAnnotation]: null } : {}),
    },
  }
}
