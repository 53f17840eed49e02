import type { Kind, Subresource } from '@skerry/api'
import { sha256 } from '../sha256.ts'

/** metav1.APIVersions, the answer to GET /api. */
export interface ApiVersions {
  kind: 'APIVersions'
  versions: string[]
  serverAddressByClientCIDRs: { clientCIDR: string; serverAddress: string }[]
}

export interface GroupVersionForDiscovery {
  groupVersion: string
  version: string
}

/** metav1.APIGroup. */
export interface ApiGroup {
  name: string
  versions: GroupVersionForDiscovery[]
  preferredVersion: GroupVersionForDiscovery
}

/** metav1.APIResource. */
export interface ApiResource {
  name: string
  singularName: string
  namespaced: boolean
  group?: string
  version?: string
  kind: string
  verbs: readonly string[]
  shortNames?: readonly string[]
  categories?: readonly string[]
  storageVersionHash?: string
}

/** metav1.APIResourceList, the answer to GET /api/v1 and /apis/<group>/<version>. */
export interface ApiResourceList {
  kind: 'APIResourceList'
  apiVersion?: 'v1'
  groupVersion: string
  resources: ApiResource[]
}

/** Answers GET /api. The address is the host and port for clients in any network. */
export function apiVersions(kinds: readonly Kind[], serverAddress: string): ApiVersions {
  return {
    kind: 'APIVersions',
    versions: versionsOf(kinds, ''),
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  }
}

/** Answers GET /apis. `kinds` are in discoveryOrder. */
export function apiGroupList(kinds: readonly Kind[]) {
  const groups = [...new Set(kinds.map(({ group }) => group))].filter((group) => group !== '')
  return {
    kind: 'APIGroupList',
    apiVersion: 'v1',
    groups: groups.map((group) => groupFacts(kinds, group)),
  }
}

/** Answers GET /apis/<group>. Returns undefined if there is no such group. */
export function apiGroup(kinds: readonly Kind[], group: string) {
  if (group === '' || versionsOf(kinds, group).length === 0) return undefined
  return { kind: 'APIGroup', apiVersion: 'v1', ...groupFacts(kinds, group) }
}

/** Answers GET /api/v1 and /apis/<group>/<version>. Returns undefined if there is no such version. */
export function apiResourceList(
  kinds: readonly Kind[],
  { group, version }: { group: string; version: string },
): ApiResourceList | undefined {
  const members = kinds.filter((kind) => kind.group === group && kind.version === version)
  if (members.length === 0) return undefined
  return {
    kind: 'APIResourceList',
    // The core group's document has no apiVersion, because it is older than versions of documents.
    ...(group === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: groupVersionText(group, version),
    resources: members.flatMap((kind) => [
      resourceFacts(kind),
      ...kind.subresources.map((subresource) => subresourceFacts(kind, subresource)),
    ]),
  }
}

/** Returns a hash by which clients detect that the storage version has changed. */
function storageVersionHash(of: Kind): string {
  if (of.storageVersionHash !== undefined) return of.storageVersionHash
  const { group, storageGroup, storageVersion, kind } = of
  const digest = sha256(`${storageGroup ?? group}/${storageVersion}/${kind}`).subarray(0, 8)
  return btoa(String.fromCharCode(...digest))
}

/** Returns the versions of a group, the preferred one first. */
export function versionsOf(kinds: readonly Kind[], group: string): string[] {
  const members = kinds.filter((kind) => kind.group === group)
  return [...new Set(members.map(({ version }) => version))]
}

/** Returns `v1` for the core group, `apps/v1` for others. */
export function groupVersionText(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`
}

function groupFacts(kinds: readonly Kind[], group: string): ApiGroup {
  const versions = versionsOf(kinds, group).map((version) => ({
    groupVersion: groupVersionText(group, version),
    version,
  }))
  const [preferredVersion] = versions
  if (!preferredVersion) throw new RangeError(`Cannot describe group: ${group} has no versions`)
  return { name: group, versions, preferredVersion }
}

function resourceFacts(kind: Kind): ApiResource {
  return {
    name: kind.resource,
    singularName: kind.singular,
    namespaced: kind.isNamespaced,
    kind: kind.kind,
    verbs: kind.verbs,
    ...(kind.shortNames.length > 0 ? { shortNames: kind.shortNames } : {}),
    ...(kind.categories.length > 0 ? { categories: kind.categories } : {}),
    // Kinds that cannot be watched are not stored: reviews, bindings, component statuses.
    ...(kind.verbs.includes('watch') ? { storageVersionHash: storageVersionHash(kind) } : {}),
  }
}

function subresourceFacts(kind: Kind, subresource: Subresource): ApiResource {
  const { name, verbs, kind: answer } = subresource
  const isForeign = answer.group !== kind.group || answer.version !== kind.version
  return {
    name: `${kind.resource}/${name}`,
    singularName: '',
    namespaced: kind.isNamespaced,
    ...(isForeign && answer.group !== '' ? { group: answer.group } : {}),
    ...(isForeign ? { version: answer.version } : {}),
    kind: answer.kind,
    verbs,
  }
}
