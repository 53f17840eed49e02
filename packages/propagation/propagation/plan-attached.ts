import { labelSelectorOf, type AnyObject } from '@skerry/api'
import {
  bindingName,
  safeHash,
  type BindingSpec,
  type BoundObject,
  type ResourceBinding,
} from '@skerry/karmada-kinds'
import type { DependentObject } from '@skerry/interpreter'
import { namespacedBindings } from './binding-scope.ts'
import { boundObject, ownerReference } from './plan-binding.ts'

/** Returns the label key that each binding attached to this one has. */
export function attachedLabel({ metadata }: ResourceBinding): string {
  const { namespace = '', name = '' } = metadata
  return `resourcebinding.karmada.io/depended-by-${safeHash(`${namespace}/${name}`)}`
}

/** Reports whether an object is one of another's dependencies. */
export function isDependent(
  { apiVersion, kind, namespace = '', name, labels = {} }: BoundObject & Labelled,
  dependents: readonly DependentObject[],
): boolean {
  return dependents.some(
    (each) =>
      each.apiVersion === apiVersion &&
      each.kind === kind &&
      each.namespace === namespace &&
      (each.name
        ? each.name === name
        : each.labelSelector !== undefined && labelSelectorOf(each.labelSelector).matches(labels)),
  )
}

interface Labelled {
  readonly labels?: Record<string, string>
}

/** Returns the binding of an object that goes to the clusters of the parent's. Pure. */
export function attachedBinding(parent: ResourceBinding, object: AnyObject): ResourceBinding {
  const { namespace = '', name = '' } = object.metadata
  const { conflictResolution, preserveResourcesOnDeletion } = parent.spec
  return {
    apiVersion: 'work.karmada.io/v1alpha2',
    kind: namespacedBindings.kind,
    metadata: {
      namespace,
      name: bindingName(object.kind, name),
      labels: attachmentLabels(parent),
      finalizers: [namespacedBindings.finalizer],
      ownerReferences: [ownerReference(object)],
    },
    spec: {
      resource: boundObject(object),
      requiredBy: [snapshotOf(parent)],
      ...(conflictResolution ? { conflictResolution } : {}),
      ...(preserveResourcesOnDeletion === undefined ? {} : { preserveResourcesOnDeletion }),
    },
  }
}

/** A binding that exists, attached to this parent, too. `parents` are all that it is attached to then. */
export function withParent(
  known: ResourceBinding,
  parent: ResourceBinding,
  { object, parents }: { object: AnyObject; parents: readonly ResourceBinding[] },
): ResourceBinding {
  const others = (known.spec.requiredBy ?? []).filter((each) => !isOf(each, parent))
  const isThere = others.length < (known.spec.requiredBy ?? []).length
  const requiredBy = isThere
    ? (known.spec.requiredBy ?? []).map((each) => (isOf(each, parent) ? snapshotOf(parent) : each))
    : [...others, snapshotOf(parent)]
  return {
    ...known,
    metadata: {
      ...known.metadata,
      labels: { ...known.metadata.labels, ...attachmentLabels(parent) },
    },
    spec: withStrategy({ ...known.spec, resource: boundObject(object), requiredBy }, parents),
  }
}

/**
 * Returns the same binding without this parent. Without any parent it keeps only the clusters of its own
 * policy.
 */
export function withoutParent(
  known: ResourceBinding,
  parent: ResourceBinding,
  parents: readonly ResourceBinding[],
): ResourceBinding {
  const { [attachedLabel(parent)]: _label, ...labels } = known.metadata.labels ?? {}
  const requiredBy = (known.spec.requiredBy ?? []).filter((each) => !isOf(each, parent))
  return {
    ...known,
    metadata: { ...known.metadata, labels },
    spec: withStrategy({ ...known.spec, requiredBy }, parents),
  }
}

/** A placement of its own decides; otherwise the parents do, and one parent's request suffices. */
function withStrategy(spec: BindingSpec, parents: readonly ResourceBinding[]): BindingSpec {
  if (spec.placement !== undefined) return spec
  const { conflictResolution: _resolution, preserveResourcesOnDeletion: _preserve, ...rest } = spec
  if (parents.length === 0) return rest
  const isAny = (isAsked: (spec: BindingSpec) => boolean): boolean =>
    parents.some((each) => isAsked(each.spec))
  return {
    ...rest,
    conflictResolution: isAny((each) => each.conflictResolution === 'Overwrite')
      ? 'Overwrite'
      : 'Abort',
    preserveResourcesOnDeletion: isAny((each) => each.preserveResourcesOnDeletion === true),
  }
}

function snapshotOf({ metadata, spec }: ResourceBinding) {
  const { namespace = '', name = '' } = metadata
  return { namespace, name, ...(spec.clusters ? { clusters: spec.clusters } : {}) }
}

function isOf(snapshot: { namespace?: string; name: string }, { metadata }: ResourceBinding) {
  return snapshot.namespace === metadata.namespace && snapshot.name === metadata.name
}

function attachmentLabels(parent: ResourceBinding): Record<string, string> {
  const id = parent.metadata.labels?.[namespacedBindings.idLabel] ?? ''
  return { [attachedLabel(parent)]: id }
}
