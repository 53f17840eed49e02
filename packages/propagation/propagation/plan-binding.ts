import { equalJson, type AnyObject } from '@skerry/api'
import {
  bindingName,
  type BindingComponent,
  type BindingSpec,
  type BoundObject,
  type ResourceBinding,
  type Placement,
  type PropagationPolicy,
} from '@skerry/karmada-kinds'
import type { InterpretedReplicas } from '@skerry/interpreter'
import { bindingScopeOf } from './binding-scope.ts'
import { claimMetadata, clusterPolicies, namespacedPolicies } from './claim.ts'

export interface BindingInput {
  readonly template: AnyObject
  readonly policy: PropagationPolicy
  /** Omitted for a kind without replicas. */
  readonly interpreted?: InterpretedReplicas | undefined
  /** Omitted for a kind without several components. */
  readonly components?: BindingComponent[] | undefined
  /** The value of the priority class that the policy names. */
  readonly schedulePriority?: number | undefined
}

/** The binding of an object under a policy. Pure. */
export function plannedBinding(input: BindingInput): ResourceBinding {
  const { template, policy } = input
  const { namespace, name = '' } = template.metadata
  const scope = bindingScopeOf(namespace)
  return {
    apiVersion: 'work.karmada.io/v1alpha2',
    kind: scope.kind,
    metadata: {
      ...(namespace ? { namespace } : {}),
      name: bindingName(template.kind, name),
      ...claimMetadata(policy),
      finalizers: [scope.finalizer],
      ownerReferences: [ownerReference(template)],
    },
    spec: plannedSpec(input),
  }
}

/** Merges the plan into the existing binding. Fields of other writers stay, above all the clusters. */
export function mergedBinding(known: ResourceBinding, planned: ResourceBinding): ResourceBinding {
  const labels = { ...known.metadata.labels, ...planned.metadata.labels }
  const annotations = { ...known.metadata.annotations, ...planned.metadata.annotations }
  if (labels[namespacedPolicies.idLabel]) {
    delete labels[clusterPolicies.idLabel]
    delete annotations[clusterPolicies.nameAnnotation]
  }
  const finalizers = new Set([
    ...(known.metadata.finalizers ?? []),
    ...(planned.metadata.finalizers ?? []),
  ])
  const { ownerReferences = [] } = planned.metadata
  const metadata = { ...known.metadata, labels, annotations, ownerReferences }
  return {
    ...known,
    metadata: { ...metadata, finalizers: [...finalizers] },
    spec: mergedSpec(known.spec, planned.spec),
  }
}

/** Reports whether both bindings request the same of clusters, whatever their policies. */
export function asksForTheSame({ spec: one }: ResourceBinding, { spec: other }: ResourceBinding) {
  return equalJson(askedOf(one), askedOf(other))
}

function askedOf({ replicas, replicaRequirements, components }: BindingSpec): unknown[] {
  return [replicas, replicaRequirements, components].map((each) => each ?? null)
}

/** Makes the object own its binding, so that both are deleted together. */
export function ownerReference({ apiVersion, kind, metadata }: AnyObject) {
  const { name = '', uid = '' } = metadata
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }
}

export function boundObject({ apiVersion, kind, metadata }: AnyObject): BoundObject {
  const { namespace, name = '', uid, resourceVersion } = metadata
  return {
    apiVersion,
    kind,
    ...(namespace ? { namespace } : {}),
    name,
    ...(uid ? { uid } : {}),
    ...(resourceVersion ? { resourceVersion } : {}),
  }
}

function plannedSpec({
  template,
  policy,
  interpreted,
  components,
  schedulePriority,
}: BindingInput): BindingSpec {
  const { spec } = policy
  const affinityGroups = workloadAffinityGroups(template, spec.placement)
  return defined({
    resource: boundObject(template),
    // Zero and false are left out, as in Karmada's bindings.
    propagateDeps: spec.propagateDeps || undefined,
    replicas: interpreted?.replicas || undefined,
    replicaRequirements: interpreted?.requirements,
    components,
    placement: spec.placement ?? {},
    schedulerName: spec.schedulerName,
    failover: spec.failover,
    conflictResolution: spec.conflictResolution,
    suspension: spec.suspension,
    preserveResourcesOnDeletion: spec.preserveResourcesOnDeletion,
    schedulePriority: schedulePriority === undefined ? undefined : { priority: schedulePriority },
    workloadAffinityGroups: affinityGroups,
  })
}

function mergedSpec(known: BindingSpec, planned: BindingSpec): BindingSpec {
  const { clusters, gracefulEvictionTasks, requiredBy, rescheduleTriggeredAt } = known
  const scheduling = known.suspension?.scheduling
  const suspension =
    scheduling === undefined ? planned.suspension : { ...planned.suspension, scheduling }
  return defined({
    ...planned,
    clusters,
    gracefulEvictionTasks,
    requiredBy,
    rescheduleTriggeredAt,
    suspension,
  })
}

/** Returns the affinity groups: objects with the same value of a label belong together, or apart. */
function workloadAffinityGroups(template: AnyObject, placement: Placement = {}) {
  const { affinity, antiAffinity } = placement.workloadAffinity ?? {}
  const affinityGroup = labelText(template, affinity?.groupByLabelKey)
  const antiAffinityGroup = labelText(template, antiAffinity?.groupByLabelKey)
  if (affinityGroup === undefined && antiAffinityGroup === undefined) return undefined
  return {
    ...(affinityGroup ? { affinityGroup } : {}),
    ...(antiAffinityGroup ? { antiAffinityGroup } : {}),
  }
}

function labelText({ metadata }: AnyObject, key: string | undefined): string | undefined {
  const value = key === undefined ? undefined : metadata.labels?.[key]
  return value === undefined ? undefined : `${key}=${value}`
}

type Optional<T> = { [K in keyof T]: T[K] | undefined }

/** Removes undefined members, as a round trip through the API server does. */
function defined(spec: Optional<BindingSpec> & Pick<BindingSpec, 'resource'>): BindingSpec {
  const entries = Object.entries(spec).filter(([, value]) => value !== undefined)
  // The required member is there, and each other one has the type that it had.
  return Object.fromEntries(entries) as unknown as BindingSpec
}
