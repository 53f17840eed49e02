import type { TypedResource } from '@skerry/client'
import {
  clusterResourceBindingResource,
  resourceBindingResource,
  type ResourceBinding,
} from '@skerry/karmada-kinds'

/** The differences between bindings of namespaced and of cluster-scoped objects. */
export interface BindingScope {
  readonly kind: 'ResourceBinding' | 'ClusterResourceBinding'
  readonly resource: TypedResource<ResourceBinding>
  /** Set on a binding while it may have Works. */
  readonly finalizer: string
  /** The label of a binding, its Works and their manifests. */
  readonly idLabel: string
  /** Annotations of Works and their manifests that name their binding. */
  readonly nameAnnotation: string
  readonly namespaceAnnotation?: string
}

export const namespacedBindings: BindingScope = Object.freeze({
  kind: 'ResourceBinding',
  resource: resourceBindingResource,
  finalizer: 'karmada.io/binding-controller',
  idLabel: 'resourcebinding.karmada.io/permanent-id',
  nameAnnotation: 'resourcebinding.karmada.io/name',
  namespaceAnnotation: 'resourcebinding.karmada.io/namespace',
})

export const clusterBindings: BindingScope = Object.freeze({
  kind: 'ClusterResourceBinding',
  resource: clusterResourceBindingResource,
  finalizer: 'karmada.io/cluster-resource-binding-controller',
  idLabel: 'clusterresourcebinding.karmada.io/permanent-id',
  nameAnnotation: 'clusterresourcebinding.karmada.io/name',
})

export function bindingScopeOf(namespace: string | undefined): BindingScope {
  return namespace ? namespacedBindings : clusterBindings
}

/** Returns the annotations that name the binding of a Work or manifest. */
export function originAnnotations(
  scope: BindingScope,
  { metadata }: ResourceBinding,
): Record<string, string> {
  return {
    [scope.nameAnnotation]: metadata.name ?? '',
    ...(scope.namespaceAnnotation ? { [scope.namespaceAnnotation]: metadata.namespace ?? '' } : {}),
  }
}

/** The key of the binding that a Work is of; undefined where it is of none of this scope. */
export function originKey(
  scope: BindingScope,
  annotations: Readonly<Record<string, string>> = {},
): string | undefined {
  const name = annotations[scope.nameAnnotation]
  if (!name || scope.namespaceAnnotation === undefined) return name || undefined
  const namespace = annotations[scope.namespaceAnnotation]
  return namespace ? `${namespace}/${name}` : undefined
}

export const bindingScopes: readonly BindingScope[] = Object.freeze([
  namespacedBindings,
  clusterBindings,
])
