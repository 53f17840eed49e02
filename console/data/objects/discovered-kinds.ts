/** The kinds that a server serves, from its aggregated discovery. Pure. */
import type { ResourceName } from '../hub/api-paths.ts'
import { byName } from '../fleet/fleet.ts'

export interface DiscoveredKind extends ResourceName {
  readonly kind: string
  readonly isNamespaced: boolean
}

interface DiscoveryList {
  readonly items?: readonly {
    readonly metadata?: { readonly name?: string }
    readonly versions?: readonly {
      readonly version: string
      readonly resources?: readonly {
        readonly resource: string
        readonly scope?: string
        readonly verbs?: readonly string[]
        readonly responseKind?: { readonly kind?: string }
      }[]
    }[]
  }[]
}

/** The media type of aggregated discovery: all groups in one answer. */
export const discoveryType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

/** Lists the kinds that can be watched, each in the version that the server prefers, which comes first. */
export function discoveredKinds(lists: readonly DiscoveryList[]): DiscoveredKind[] {
  const found = lists.flatMap(({ items = [] }) =>
    items.flatMap(({ metadata, versions = [] }) => {
      const group = metadata?.name ?? ''
      const seen = new Set<string>()
      return versions.flatMap(({ version, resources = [] }) =>
        resources.flatMap(({ resource, scope, verbs = [], responseKind }) => {
          if (seen.has(resource) || !verbs.includes('watch') || !verbs.includes('list')) return []
          seen.add(resource)
          const kind = responseKind?.kind ?? resource
          return [{ group, version, resource, kind, isNamespaced: scope === 'Namespaced' }]
        }),
      )
    }),
  )
  return found.toSorted((a, b) => byName(a.group, b.group) || byName(a.resource, b.resource))
}

/** `deployments.apps`, and `pods` for the core group, as kubectl has it. */
export function kindKey({ group, resource }: ResourceName): string {
  return group === '' ? resource : `${resource}.${group}`
}
