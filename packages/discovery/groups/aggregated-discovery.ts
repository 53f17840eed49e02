import type { GroupVersionKind, Kind } from '@skerry/api'
import { versionsOf } from './discovery.ts'

export type AggregatedVersion = 'v2' | 'v2beta1'

/** KEP-3352: all of discovery in one document. */
export interface ApiGroupDiscoveryList {
  kind: 'APIGroupDiscoveryList'
  apiVersion: `apidiscovery.k8s.io/${AggregatedVersion}`
  metadata: Record<string, never>
  items: ApiGroupDiscovery[]
}

export interface ApiGroupDiscovery {
  metadata: { name?: string }
  versions: { version: string; resources: ApiResourceDiscovery[]; freshness: 'Current' | 'Stale' }[]
}

export interface ApiResourceDiscovery {
  resource: string
  responseKind: GroupVersionKind
  scope: 'Namespaced' | 'Cluster'
  singularResource: string
  verbs: readonly string[]
  shortNames?: readonly string[]
  categories?: readonly string[]
  subresources?: {
    subresource: string
    responseKind: GroupVersionKind
    verbs: readonly string[]
  }[]
}

/** Answers GET /api (`core`) or /apis (`named`) in the aggregated form. `kinds` are in discoveryOrder. */
export function aggregatedDiscovery(
  kinds: readonly Kind[],
  groups: 'core' | 'named',
  documentVersion: AggregatedVersion = 'v2',
): ApiGroupDiscoveryList {
  const names = [...new Set(kinds.map(({ group }) => group))]
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: `apidiscovery.k8s.io/${documentVersion}`,
    metadata: {},
    items: names
      .filter((group) => (group === '') === (groups === 'core'))
      .map((group) => groupDiscovery(kinds, group)),
  }
}

export function aggregatedContentType(documentVersion: AggregatedVersion): string {
  return `application/json;g=apidiscovery.k8s.io;v=${documentVersion};as=APIGroupDiscoveryList`
}

/**
 * Returns the aggregated form that an Accept header prefers to any plain one, or undefined if it
 * prefers the plain form.
 */
export function aggregatedVersionOf(accept: string): AggregatedVersion | undefined {
  for (const range of accept.split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim())
    if (type !== 'application/json' && type !== '*/*' && type !== 'application/*') continue
    const asked = new Map(
      parameters.map((one): [string, string] => {
        const [key = '', value = ''] = one.split('=', 2)
        return [key, value]
      }),
    )
    if (!asked.has('as')) return undefined
    const version = asked.get('v')
    if (asked.get('g') !== 'apidiscovery.k8s.io') continue
    if (asked.get('as') !== 'APIGroupDiscoveryList') continue
    if (version === 'v2' || version === 'v2beta1') return version
  }
  return undefined
}

function groupDiscovery(kinds: readonly Kind[], group: string): ApiGroupDiscovery {
  return {
    metadata: group === '' ? {} : { name: group },
    versions: versionsOf(kinds, group).map((version) => ({
      version,
      resources: kinds
        .filter((kind) => kind.group === group && kind.version === version)
        .map(resourceDiscovery),
      freshness: 'Current',
    })),
  }
}

function resourceDiscovery(kind: Kind): ApiResourceDiscovery {
  return {
    resource: kind.resource,
    responseKind: responseKind(kind, kind),
    scope: kind.isNamespaced ? 'Namespaced' : 'Cluster',
    singularResource: kind.singular,
    verbs: kind.verbs,
    ...(kind.shortNames.length > 0 ? { shortNames: kind.shortNames } : {}),
    ...(kind.categories.length > 0 ? { categories: kind.categories } : {}),
    ...(kind.subresources.length > 0
      ? {
          subresources: kind.subresources.map(({ name, kind: answer, verbs }) => ({
            subresource: name,
            responseKind: responseKind(kind, answer),
            verbs,
          })),
        }
      : {}),
  }
}

/** Built-in kinds leave group and version empty where they are those of the document. */
function responseKind(kind: Kind, { group, version, kind: name }: GroupVersionKind) {
  const isOwn = group === kind.group && version === kind.version
  if (isOwn && !kind.isCustom) return { group: '', version: '', kind: name }
  return { group, version, kind: name }
}
