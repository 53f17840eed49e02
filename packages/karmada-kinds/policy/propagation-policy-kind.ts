import {
  fieldForbidden,
  fieldInvalid,
  isJsonObject,
  type AnyObject,
  type StatusCause,
} from '@skerry/api'
import { fieldAt, objectsAt, textAt } from '@skerry/fleet-kinds'
import { addFinalizer, setPermanentId, type KindRules } from '../rules/kind-rules.ts'
import { failoverCauses } from './failover-checks.ts'
import { placementCauses } from './placement-checks.ts'
import { selectorCauses, setOwnNamespace } from './policy-checks.ts'
import type { PropagationPolicy, PropagationSpec } from './propagation-policy.ts'
import { waveCauses } from './waves.ts'

/** A policy stays until nothing is propagated by it any more. */
const policyFinalizers = Object.freeze({
  PropagationPolicy: 'karmada.io/propagation-policy-controller',
  ClusterPropagationPolicy: 'karmada.io/cluster-propagation-policy-controller',
})

/** The rules of PropagationPolicy and ClusterPropagationPolicy. */
export const propagationPolicyRules: KindRules = Object.freeze({
  prepare(next, { newUid }, isCreate) {
    setOwnNamespace(next)
    setPolicyDefaults(next)
    if (!isCreate) return
    setPermanentId(next, idLabel(next), newUid())
    addFinalizer(
      next,
      next.kind === 'PropagationPolicy'
        ? policyFinalizers.PropagationPolicy
        : policyFinalizers.ClusterPropagationPolicy,
    )
  },
  validate: (next, old) => [
    ...(old ? changeCauses(next, old) : []),
    ...specCauses(next),
    ...waveCauses(next),
  ],
} satisfies KindRules)

/** `propagationpolicy.karmada.io/permanent-id`, or that of a ClusterPropagationPolicy. */
function idLabel({ kind }: AnyObject): string {
  return `${kind.toLowerCase()}.karmada.io/permanent-id`
}

/** The default grace period, in seconds. */
const gracePeriodDefault = 600

function setPolicyDefaults(policy: AnyObject): void {
  const { spec } = policy
  if (!isJsonObject(spec)) return
  spec['placement'] ??= {}
  for (const constraint of objectsAt(spec, 'placement', 'spreadConstraints')) {
    if (!constraint['spreadByLabel']) constraint['spreadByField'] ||= 'cluster'
    constraint['minGroups'] ||= 1
  }
  const needsOthers = objectsAt(spec, 'resourceSelectors').some(
    ({ apiVersion, kind }) =>
      apiVersion === 'multicluster.x-k8s.io/v1alpha1' && kind === 'ServiceImport',
  )
  if (needsOthers) spec['propagateDeps'] = true
  const scheduling = fieldAt(spec, 'placement', 'replicaScheduling')
  if (isJsonObject(scheduling) && scheduling['replicaSchedulingType'] === 'Divided') {
    scheduling['replicaDivisionPreference'] ||= 'Weighted'
  }
  const application = fieldAt(spec, 'failover', 'application')
  if (isJsonObject(application) && /^Grac(iously|efully)$/.test(textAt(application, 'purgeMode'))) {
    application['gracePeriodSeconds'] ??= gracePeriodDefault
  }
}

function changeCauses(next: AnyObject, old: AnyObject): StatusCause[] {
  const causes: StatusCause[] = []
  if (textAt(next, 'spec', 'schedulerName') !== textAt(old, 'spec', 'schedulerName')) {
    causes.push(fieldForbidden('spec.schedulerName', 'the schedulerName should not be updated'))
  }
  const label = idLabel(next)
  if (next.metadata.labels?.[label] !== old.metadata.labels?.[label]) {
    const why = `label ${label} is immutable, it can only be set by the system during creation`
    causes.push(fieldForbidden('metadata.labels', why))
  }
  return causes
}

function specCauses(object: AnyObject): StatusCause[] {
  // Its schema has found it in order.
  const { metadata, spec } = object as unknown as PropagationPolicy
  return [
    ...placementCauses(spec.placement ?? {}, 'spec.placement'),
    ...failoverNeedCauses(spec),
    ...failoverCauses(spec.failover ?? {}, 'spec.failover'),
    ...selectorCauses(spec.resourceSelectors, metadata.namespace ?? ''),
    ...preemptionCauses(spec),
    ...suspensionCauses(spec),
  ]
}

function failoverNeedCauses({ failover, propagateDeps = false }: PropagationSpec): StatusCause[] {
  if (!failover?.application || propagateDeps) return []
  const why = 'application failover is set, propagateDeps must be true'
  return [fieldInvalid('spec.propagateDeps', propagateDeps, why)]
}

function preemptionCauses({ preemption, resourceSelectors }: PropagationSpec): StatusCause[] {
  if (preemption !== 'Always') return []
  const why =
    'name cannot be empty if preemption is Always, the empty name may cause unexpected resources preemption'
  return resourceSelectors.flatMap(({ name = '' }, at) =>
    name === '' ? [fieldInvalid(`spec.resourceSelectors[${at}].name`, name, why)] : [],
  )
}

function suspensionCauses({ suspension }: PropagationSpec): StatusCause[] {
  const names = suspension?.dispatchingOnClusters?.clusterNames ?? []
  if (!suspension?.dispatching || names.length === 0) return []
  const why = 'suspension dispatching cannot co-exist with dispatchingOnClusters.clusterNames'
  return [fieldInvalid('spec.suspension.suspension', suspension, why)]
}
