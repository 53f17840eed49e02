import { compareVersions } from '@skerry/kinds'
import type {
  ApiGroup,
  ApiGroupDiscovery,
  ApiGroupDiscoveryList,
  ApiResource,
  ApiResourceDiscovery,
} from '@skerry/discovery'
import { builtinPriorities, customPriority } from './api-service-priority-table.ts'

/** A group version from an APIService, for discovery. */
export interface ExtraGroupVersion {
  readonly group: string
  readonly version: string
  readonly groupPriority: number
  readonly versionPriority: number
  /** Undefined until its server has listed them. */
  readonly resources: readonly ApiResource[] | undefined
  /** False if the known resources may be outdated. */
  readonly isCurrent: boolean
}

/** Returns the groups of GET /apis, with those of other servers in their places. */
export function mergeGroups(
  groups: readonly ApiGroup[],
  extras: readonly ExtraGroupVersion[],
): ApiGroup[] {
  return merged(
    groups,
    extras,
    ({ name, versions }) => ({ name, versions: versions.map(({ version }) => version) }),
    (name, versions, before) => {
      const texts = versions.map((version) => ({ groupVersion: `${name}/${version}`, version }))
      const [preferredVersion] = texts
      if (!preferredVersion) throw new RangeError(`Cannot describe group: ${name} has no versions`)
      return { ...before, name, versions: texts, preferredVersion }
    },
  )
}

/** Answers GET /apis in the aggregated form (KEP-3352), with the groups of other servers in their places. */
export function mergeAggregated(
  list: ApiGroupDiscoveryList,
  extras: readonly ExtraGroupVersion[],
): ApiGroupDiscoveryList {
  const items = merged(
    list.items,
    extras,
    ({ metadata, versions }) => ({
      name: metadata.name ?? '',
      versions: versions.map(({ version }) => version),
    }),
    (name, versions, before): ApiGroupDiscovery => ({
      metadata: { name },
      versions: versions.map((version) => {
        const extra = extras.find((each) => each.group === name && each.version === version)
        const own = before?.versions.find((each) => each.version === version)
        return extra || !own ? versionDiscovery(version, extra) : own
      }),
    }),
  )
  return { ...list, items }
}

interface Ranked {
  readonly name: string
  readonly versions: readonly string[]
}

/** Sorts groups by priority, then by name; the versions of one group likewise. */
function merged<T>(
  own: readonly T[],
  extras: readonly ExtraGroupVersion[],
  read: (group: T) => Ranked,
  write: (name: string, versions: string[], before: T | undefined) => T,
): T[] {
  const groups = new Map(own.map((group) => [read(group).name, group]))
  const byGroup = Map.groupBy(extras, ({ group }) => group)
  for (const [name, added] of byGroup) {
    const before = groups.get(name)
    const versions = new Set([
      ...(before ? read(before).versions : []),
      ...added.map(({ version }) => version),
    ])
    const priority = (version: string): number =>
      added.find((extra) => extra.version === version)?.versionPriority ??
      (builtinPriorities[`${version}.${name}`] ?? customPriority).version
    const ordered = [...versions].toSorted(
      (a, b) => priority(b) - priority(a) || compareVersions(a, b),
    )
    groups.set(name, write(name, ordered, before))
  }
  const rank = (group: T): number => groupPriority(read(group), byGroup.get(read(group).name) ?? [])
  return [...groups.values()].toSorted(
    (a, b) =>
      rank(b) - rank(a) ||
      // Built-in groups of equal priority keep their order in discovery.
      (isBuiltin(read(a)) && isBuiltin(read(b)) ? 0 : compareNames(read(a).name, read(b).name)),
  )
}

/** Its own API always comes first, because it has no APIService. */
const registration = 'apiregistration.k8s.io'

function groupPriority({ name, versions }: Ranked, extras: readonly ExtraGroupVersion[]): number {
  if (name === registration) return Number.POSITIVE_INFINITY
  const added = extras.map((extra) => extra.groupPriority)
  const known = versions
    .filter((version) => !extras.some((extra) => extra.version === version))
    .map((version) => (builtinPriorities[`${version}.${name}`] ?? customPriority).group)
  return Math.max(...added, ...known)
}

function isBuiltin({ name, versions }: Ranked): boolean {
  return versions.some((version) => builtinPriorities[`${version}.${name}`] !== undefined)
}

function compareNames(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function versionDiscovery(
  version: string,
  extra: ExtraGroupVersion | undefined,
): ApiGroupDiscovery['versions'][number] {
  const resources = extra?.resources ?? []
  return {
    version,
    resources: resources
      .filter(({ name }) => !name.includes('/'))
      .map((resource) => resourceDiscovery(resource, resources)),
    freshness: extra?.isCurrent === true ? 'Current' : 'Stale',
  }
}

/** Converts the plain form to the aggregated form. */
function resourceDiscovery(
  resource: ApiResource,
  all: readonly ApiResource[],
): ApiResourceDiscovery {
  const { name, namespaced, singularName, verbs, shortNames = [], categories = [] } = resource
  const subresources = all.filter((each) => each.name.startsWith(`${name}/`))
  return {
    resource: name,
    responseKind: responseKind(resource),
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singularName ?? '',
    verbs,
    ...(shortNames.length > 0 ? { shortNames } : {}),
    ...(categories.length > 0 ? { categories } : {}),
    ...(subresources.length > 0
      ? {
          subresources: subresources.map((each) => ({
            subresource: each.name.slice(name.length + 1),
            responseKind: responseKind(each),
            verbs: each.verbs,
          })),
        }
      : {}),
  }
}

function responseKind({ group = '', version = '', kind }: ApiResource) {
  return { group, version, kind }
}
