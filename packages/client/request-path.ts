import type { GroupVersionResource } from '@skerry/api'

/** One resource at one version, and whether its objects live in namespaces. */
export interface ResourceRef extends GroupVersionResource {
  isNamespaced: boolean
}

export interface ObjectKey {
  /** Omitted for cluster-scoped resources. */
  namespace?: string
  name: string
}

/** Values that are undefined, false or an empty string are left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>

/** Returns `/api/v1` or `/apis/<group>/<version>`. */
function groupVersionPath(group: string, version: string): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`
}

/** Without a namespace, a namespaced resource's path covers all of them. */
export function collectionPath(resource: ResourceRef, namespace?: string): string {
  const root = groupVersionPath(resource.group, resource.version)
  if (!namespace) return `${root}/${resource.resource}`
  if (!resource.isNamespaced) {
    throw new TypeError(
      `Cannot address ${resource.resource} in namespace "${namespace}": cluster-scoped`,
    )
  }
  return `${root}/namespaces/${encodeURIComponent(namespace)}/${resource.resource}`
}

export function objectPath(resource: ResourceRef, key: ObjectKey, subresource?: string): string {
  if (key.name === '') throw new TypeError(`Cannot address ${resource.resource}: the name is empty`)
  if (resource.isNamespaced && !key.namespace) {
    throw new TypeError(
      `Cannot address ${resource.resource} "${key.name}": the namespace is missing`,
    )
  }
  const path = `${collectionPath(resource, key.namespace)}/${encodeURIComponent(key.name)}`
  return subresource ? `${path}/${subresource}` : path
}

export function withQuery(path: string, query: Query): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== false && value !== '') search.set(name, String(value))
  }
  const text = search.toString()
  return text === '' ? path : `${path}?${text}`
}
