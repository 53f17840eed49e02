import type { KubeObject } from '@skerry/api'
import type { Selectors, TypedResource } from '@skerry/client'

/** Selects the objects of a resource to keep in memory. */
export interface Selection extends Selectors {
  /** If omitted, all namespaces. */
  namespace?: string
}

/** The objects of a resource that a selection chooses. They have their own informer. */
export interface SelectedResource<T extends KubeObject> extends TypedResource<T> {
  readonly selectors: Selection
}

/** For a resource whose other objects need not be in memory. All readers must use the same constant. */
export function selected<T extends KubeObject>(
  resource: TypedResource<T>,
  selectors: Selection,
): SelectedResource<T> {
  return Object.freeze({ ...resource, selectors: Object.freeze({ ...selectors }) })
}

export function selectorsOf(resource: TypedResource<KubeObject>): Selection {
  // Only selected() creates a resource with this member.
  return 'selectors' in resource ? (resource as SelectedResource<KubeObject>).selectors : {}
}
