import { StatusError, type GroupResource } from '@skerry/api'
import type { Objects } from '../contract/objects.ts'

/**
 * Derives a list from the objects of these resources, and derives it again only when one of them
 * changes. The list is empty if the server does not serve them.
 */
export function createDerivedList<T>(
  objects: Objects,
  resources: readonly GroupResource[],
  derive: () => readonly T[],
): () => readonly T[] {
  let state: { versions: readonly number[]; list: readonly T[] } | undefined
  let isServed: boolean | undefined
  return () => {
    isServed ??= resources.every((resource) => isServedBy(objects, resource))
    if (!isServed) return []
    const before = state
    if (
      before &&
      resources.every((resource, at) => objects.version(resource) === before.versions[at])
    ) {
      return before.list
    }
    const versions = resources.map((resource) => objects.version(resource))
    state = { versions, list: derive() }
    return state.list
  }
}

function isServedBy(objects: Objects, resource: GroupResource): boolean {
  try {
    objects.version(resource)
    return true
  } catch (error) {
    if (error instanceof StatusError && error.reason === 'NotFound') return false
    throw error
  }
}
