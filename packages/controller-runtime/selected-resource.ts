import type { KubeObject } from '@skerry/api'
import type { Selectors, TypedResource } from '@skerry/client'

/** What of a resource is kept in memory. */
export interface Selection extends Selectors {
  /** Absent: all namespaces. */
  namespace?: string
}

/** Those objects of a resource that a selection chooses: they have an informer of their own. */
export interface SelectedResource<T extends KubeObject> extends TypedResource<T> {
  readonly selectors: Selection
}

/** For a resource whose other objects need not be in memory. The same constant for all who read it. */
export function selected<T extends KubeObject>(
  resource: TypedResource<T>,
  selectors: Selection,
): SelectedResource<T> {
  return Object.freeze({ ...resource, selectors: Object.freeze({ ...selectors }) })
}

export function selectorsOf(resource: TypedResource<KubeObject>): Selection {
  // Nobody but selected() makes a resource with this member.
  return 'selectors' in resource ? (resource as SelectedResource<KubeObject>).selectors : {}
}
