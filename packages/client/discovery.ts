import { isStatusError } from '@skerry/api'
import type { ResourceRef } from './request-path.ts'
import type { Caller } from './resource-client.ts'

export interface DiscoveredResource extends ResourceRef {
  kind: string
  verbs: readonly string[]
  subresources: readonly string[]
  /**
   * Subresources with an object of another kind, such as `scale` and `eviction`; `status` has the
   * object itself.
   */
  foreignSubresources: readonly string[]
  shortNames: readonly string[]
  categories: readonly string[]
  /** True for the version that the group prefers. */
  isPreferred: boolean
}

export interface Discovery {
  readonly resources: readonly DiscoveredResource[]
  /**
   * Group versions whose server did not answer (an aggregated API that is down). Callers that act
   * on the absence of a resource must check this first.
   */
  readonly stale: readonly { group: string; version: string }[]
}

/** The used fields of APIGroupDiscoveryList (apidiscovery.k8s.io/v2). */
interface GroupDiscoveryList {
  kind?: string
  items?: {
    metadata?: { name?: string }
    versions?: {
      version: string
      freshness?: string
      resources?: DiscoveryResource[]
    }[]
  }[]
}

interface DiscoveryResource {
  resource: string
  responseKind?: ResponseKind
  scope: 'Namespaced' | 'Cluster'
  shortNames?: string[]
  categories?: string[]
  verbs?: string[]
  subresources?: { subresource: string; responseKind?: ResponseKind }[]
}

interface ResponseKind {
  group?: string
  version?: string
  kind: string
}

const aggregatedAccept =
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json'

export async function discover(caller: Caller, signal: AbortSignal): Promise<Discovery> {
  const roots = await Promise.all(['/api', '/apis'].map((path) => readRoot(caller, path, signal)))
  const parts: Discovery[] = []
  for (const root of roots) {
    if (root === undefined) continue
    parts.push(
      root.kind === 'APIGroupDiscoveryList'
        ? fromAggregated(root)
        : await readLegacy(caller, root, signal),
    )
  }
  return {
    resources: parts.flatMap((part) => part.resources),
    stale: parts.flatMap((part) => part.stale),
  }
}

/** Resolves to undefined if the server has no such root; Karmada's aggregated servers have no /api. */
async function readRoot(
  caller: Caller,
  path: string,
  signal: AbortSignal,
): Promise<(GroupDiscoveryList & LegacyRoot) | undefined> {
  try {
    const answer = await caller.call({ method: 'GET', path, accept: aggregatedAccept }, signal)
    return answer as GroupDiscoveryList & LegacyRoot // the two shapes that this path may answer with
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return undefined
    throw error
  }
}

function fromAggregated(list: GroupDiscoveryList): Discovery {
  const resources: DiscoveredResource[] = []
  const stale: { group: string; version: string }[] = []
  for (const item of list.items ?? []) {
    const group = item.metadata?.name ?? ''
    for (const [order, version] of (item.versions ?? []).entries()) {
      if (version.freshness === 'Stale') stale.push({ group, version: version.version })
      for (const resource of version.resources ?? []) {
        resources.push({
          group,
          version: version.version,
          resource: resource.resource,
          isNamespaced: resource.scope === 'Namespaced',
          kind: resource.responseKind?.kind ?? '',
          verbs: resource.verbs ?? [],
          subresources: (resource.subresources ?? []).map((each) => each.subresource),
          foreignSubresources: (resource.subresources ?? [])
            .filter(({ responseKind }) => isOtherKind(resource.responseKind, responseKind, group))
            .map((each) => each.subresource),
          shortNames: resource.shortNames ?? [],
          categories: resource.categories ?? [],
          isPreferred: order === 0,
        })
      }
    }
  }
  return { resources, stale }
}

/** An omitted kind is the resource's, and so is an omitted group. */
function isOtherKind(
  own: ResponseKind | undefined,
  other: ResponseKind | undefined,
  group: string,
): boolean {
  if (other === undefined) return false
  return other.kind !== own?.kind || (other.group || group) !== (own.group || group)
}

/** Servers before 1.26 and small API servers only have these. */
interface LegacyRoot {
  versions?: string[]
  groups?: {
    name: string
    versions: { version: string }[]
    preferredVersion?: { version: string }
  }[]
}

interface LegacyResourceList {
  resources?: {
    name: string
    group?: string
    kind: string
    namespaced: boolean
    verbs?: string[]
    shortNames?: string[]
    categories?: string[]
  }[]
}

async function readLegacy(
  caller: Caller,
  root: LegacyRoot,
  signal: AbortSignal,
): Promise<Discovery> {
  const core = (root.versions ?? []).map((version) => ({
    group: '',
    version,
    isPreferred: true,
    path: `/api/${version}`,
  }))
  const named = (root.groups ?? []).flatMap((group) =>
    group.versions.map(({ version }) => ({
      group: group.name,
      version,
      isPreferred: version === (group.preferredVersion ?? group.versions[0])?.version,
      path: `/apis/${group.name}/${version}`,
    })),
  )
  const resources: DiscoveredResource[] = []
  const stale: { group: string; version: string }[] = []
  for (const { path, ...groupVersion } of [...core, ...named]) {
    try {
      const list = await caller.call({ method: 'GET', path }, signal)
      // Every server answers an APIResourceList on a group version's path.
      resources.push(...fromLegacy(list as LegacyResourceList, groupVersion))
    } catch (error) {
      if (signal.aborted) throw error
      stale.push({ group: groupVersion.group, version: groupVersion.version })
    }
  }
  return { resources, stale }
}

function fromLegacy(
  list: LegacyResourceList,
  groupVersion: { group: string; version: string; isPreferred: boolean },
): DiscoveredResource[] {
  const all = list.resources ?? []
  return all
    .filter(({ name }) => !name.includes('/'))
    .map((resource) => {
      const below = all.filter(({ name }) => name.startsWith(`${resource.name}/`))
      const nameOf = ({ name }: { name: string }): string => name.slice(resource.name.length + 1)
      return {
        ...groupVersion,
        resource: resource.name,
        isNamespaced: resource.namespaced,
        kind: resource.kind,
        verbs: resource.verbs ?? [],
        subresources: below.map(nameOf),
        foreignSubresources: below
          .filter((each) => isOtherKind(resource, each, groupVersion.group))
          .map(nameOf),
        shortNames: resource.shortNames ?? [],
        categories: resource.categories ?? [],
      }
    })
}
