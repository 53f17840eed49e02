import {
  isStatusError,
  labelSelectorOf,
  noLabelSelector,
  type Labels,
  type LabelSelector,
} from '@skerry/api'
import type { Objects, UserInfo } from '@skerry/apiserver'
import { clusterResource, clusterAccessResource, type ClusterAccess } from '@skerry/fleet-kinds'

/** One parsed ClusterAccess. */
export interface ClusterGrant {
  readonly name: string
  readonly selector: LabelSelector
  readonly verbs: readonly string[]
  readonly serviceVerbs: readonly string[]
  /** Users as `User\n<name>`, groups as `Group\n<name>`. */
  readonly subjects: ReadonlySet<string>
}

/** A way to one cluster: to its API, or to its services. */
export interface AskedOfCluster {
  readonly cluster: string
  readonly subresource: 'proxy' | 'services'
  readonly verb: string
}

export interface ClusterGrants {
  all(): readonly ClusterGrant[]
  /** Returns the grants that have this user among their subjects. */
  of(user: UserInfo): readonly ClusterGrant[]
  /** The grant by which this user may, if any. */
  find(user: UserInfo, asked: AskedOfCluster): ClusterGrant | undefined
}

/**
 * Parses the grants again when any ClusterAccess changes. The labels of clusters are read at the time of each
 * check.
 */
export function createClusterGrants(objects: Objects): ClusterGrants {
  let known: { version: number; grants: readonly ClusterGrant[]; index: GrantIndex } | undefined
  const current = () => {
    const version = objects.version(clusterAccessResource)
    if (known?.version !== version) {
      const grants = objects.list(clusterAccessResource).map((object) =>
        // The registry keeps only what was decoded and validated as this kind.
        grantOf(object as unknown as ClusterAccess),
      )
      known = { version, grants, index: indexOf(grants) }
    }
    return known
  }
  return {
    all: () => current().grants,
    of(user) {
      const { index } = current()
      return [...new Set([...keysOf(user)].flatMap((key) => index.get(key) ?? []))]
    },
    find(user, { verb, cluster, subresource }) {
      const object = objects.get(clusterResource, '', cluster)
      // A name without a Cluster has no labels that could match.
      if (object === undefined) return undefined
      const labels = object.metadata.labels ?? {}
      const { index } = current()
      for (const key of keysOf(user)) {
        const grant = index.get(key)?.find((each) => allows(each, { verb, subresource }, labels))
        if (grant) return grant
      }
      return undefined
    },
  }
}

type GrantIndex = ReadonlyMap<string, readonly ClusterGrant[]>

function allows(
  { verbs, serviceVerbs, selector }: ClusterGrant,
  { verb, subresource }: Pick<AskedOfCluster, 'verb' | 'subresource'>,
  labels: Labels,
): boolean {
  const granted = subresource === 'proxy' ? verbs : serviceVerbs
  return (granted.includes('*') || granted.includes(verb)) && selector.matches(labels)
}

function* keysOf({ name, groups }: UserInfo): Iterable<string> {
  yield `User\n${name}`
  for (const group of groups) yield `Group\n${group}`
}

function grantOf({ metadata, spec }: ClusterAccess): ClusterGrant {
  const subjects = spec.subjects.map(({ kind, name, namespace = '' }) =>
    kind === 'ServiceAccount'
      ? `User\nsystem:serviceaccount:${namespace}:${name}`
      : `${kind}\n${name}`,
  )
  return {
    name: metadata.name ?? '',
    selector: selectorOf(spec.clusterSelector),
    verbs: spec.verbs,
    serviceVerbs: spec.serviceVerbs ?? [],
    subjects: new Set(subjects),
  }
}

/** Parses the selector. An invalid one selects nothing: it grants no access, and the other grants still hold. */
function selectorOf(fields: ClusterAccess['spec']['clusterSelector']): LabelSelector {
  try {
    return labelSelectorOf(fields)
  } catch (error) {
    if (!isStatusError(error, 'BadRequest')) throw error
    return noLabelSelector
  }
}

function indexOf(grants: readonly ClusterGrant[]): GrantIndex {
  const index = new Map<string, ClusterGrant[]>()
  for (const grant of grants) {
    for (const subject of grant.subjects) {
      const found = index.get(subject)
      if (found) found.push(grant)
      else index.set(subject, [grant])
    }
  }
  return index
}
