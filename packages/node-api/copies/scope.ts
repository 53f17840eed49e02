import type { GroupVersionResource } from '@skerry/api'

/** The objects of one copy: a resource in one version, all of it or a part that a reader may read. */
export interface Scope {
  readonly resource: GroupVersionResource
  /** Empty for all namespaces, and for kinds without. */
  readonly namespace: string
  readonly labelSelector: string
  readonly fieldSelector: string
}

/** Returns a text that is the same for equal scopes only. */
export function scopeKey({ resource, namespace, labelSelector, fieldSelector }: Scope): string {
  const { group, version, resource: name } = resource
  return JSON.stringify([group, version, name, namespace, labelSelector, fieldSelector])
}

export function parseScopeKey(key: string): Scope {
  // Only scopeKey makes these texts.
  const [group, version, resource, namespace, labelSelector, fieldSelector] = JSON.parse(key) as [
    string,
    string,
    string,
    string,
    string,
    string,
  ]
  return { resource: { group, version, resource }, namespace, labelSelector, fieldSelector }
}

export interface AskedCollection {
  readonly resource: GroupVersionResource
  readonly namespace: string
  readonly query: URLSearchParams
}

/** Returns the narrowest scope that answers a list or watch. */
export function scopeOf({ resource, namespace, query }: AskedCollection): Scope {
  return {
    resource,
    namespace,
    labelSelector: query.get('labelSelector') ?? '',
    fieldSelector: query.get('fieldSelector') ?? '',
  }
}

/** Returns the scopes that contain everything of this one, itself first. */
export function coveringScopes(scope: Scope): readonly Scope[] {
  const { labelSelector, fieldSelector, namespace } = scope
  const all = [scope]
  const isSelected = labelSelector !== '' || fieldSelector !== ''
  if (isSelected) all.push({ ...scope, labelSelector: '', fieldSelector: '' })
  if (namespace === '') return all
  if (isSelected) all.push({ ...scope, namespace: '' })
  all.push({ ...scope, namespace: '', labelSelector: '', fieldSelector: '' })
  return all
}

/** Names a scope in messages: `configmaps in shop`, `deployments.apps`. */
export function scopeText({ resource, namespace, labelSelector, fieldSelector }: Scope): string {
  const name = resourceText(resource)
  const place = namespace === '' ? name : `${name} in namespace ${namespace}`
  const selectors = [labelSelector, fieldSelector].filter((text) => text !== '')
  return selectors.length === 0 ? place : `${place} (${selectors.join(', ')})`
}

export function resourceText({
  group,
  resource,
}: Pick<GroupVersionResource, 'group' | 'resource'>) {
  return group === '' ? resource : `${resource}.${group}`
}
