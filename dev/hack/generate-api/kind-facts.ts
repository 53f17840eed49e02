import { createHash } from 'node:crypto'
import type { ApiResource, GroupVersionDocument, UpstreamFacts } from './upstream.ts'

/** The content of generated/kinds.json; read by packages/kinds/builtin-kinds.ts. */
export interface KindFacts {
  upstreamVersion: string
  /** The groups in discovery's order, without core. */
  groups: { name: string; versions: string[]; preferredVersion: string }[]
  kinds: KindFact[]
}

export interface KindFact {
  group: string
  version: string
  kind: string
  resource: string
  singular: string
  isNamespaced: boolean
  shortNames?: string[]
  categories?: string[]
  verbs: string[]
  subresources?: SubresourceFact[]
  schemaName: string
  storageVersion: string
  /** Set only if the objects are stored as another group's: events.k8s.io events are core events. */
  storageGroup?: string
  /** Set only if upstream announces another storage version than ours. */
  storageVersionHash?: string
  /** Whether DELETE returns the object and not a Status. */
  returnsDeletedObject?: boolean
}

export interface SubresourceFact {
  name: string
  group: string
  version: string
  kind: string
  verbs: string[]
  /** The name of the schema. Undefined if the kind has none, e.g. PodExecOptions. */
  schemaName?: string
}

export function kindFacts(upstreamVersion: string, facts: UpstreamFacts): KindFacts {
  const hashes = storageHashes(facts)
  const kinds = facts.documents.flatMap((document) =>
    document.resources
      .filter((resource) => !resource.name.includes('/'))
      .map((resource) => kindFact(document, resource, hashes)),
  )
  return { upstreamVersion, groups: facts.groups, kinds }
}

function kindFact(
  document: GroupVersionDocument,
  resource: ApiResource,
  hashes: ReadonlyMap<string, { group: string; version: string }>,
): KindFact {
  const { group, version } = document
  const { kind } = resource
  const schemaName = schemaNameOf(document, document, kind)
  if (schemaName === undefined) {
    throw new Error(`Cannot find schema: ${group}/${version} ${kind} has none`)
  }
  const stored = hashes.get(`${resource.storageVersionHash} ${kind}`) ?? { group, version }
  const subresources = document.resources
    .filter((other) => other.name.startsWith(`${resource.name}/`))
    .map((other) => subresourceFact(document, other))
  return {
    group,
    version,
    kind,
    resource: resource.name,
    singular: resource.singularName,
    isNamespaced: resource.namespaced,
    ...(resource.shortNames ? { shortNames: resource.shortNames } : {}),
    ...(resource.categories ? { categories: resource.categories } : {}),
    verbs: resource.verbs,
    ...(subresources.length > 0 ? { subresources } : {}),
    schemaName,
    storageVersion: stored.version,
    ...(stored.group === group ? {} : { storageGroup: stored.group }),
    ...announcedHash(resource, stored),
    ...(deleteAnswers(document, resource) === schemaName ? { returnsDeletedObject: true } : {}),
  }
}

function announcedHash(
  { kind, storageVersionHash: announced }: ApiResource,
  stored: { group: string; version: string },
): Pick<KindFact, 'storageVersionHash'> {
  if (announced === undefined || announced === storageHash({ ...stored, kind })) return {}
  return { storageVersionHash: announced }
}

function storageHash({ group, version, kind }: Record<'group' | 'version' | 'kind', string>) {
  const digest = createHash('sha256').update(`${group}/${version}/${kind}`).digest()
  return digest.subarray(0, 8).toString('base64')
}

/** The definition that DELETE of one object answers with. */
function deleteAnswers(document: GroupVersionDocument, resource: ApiResource): string | undefined {
  const suffix = `/${resource.name}/{name}`
  const [, item] = Object.entries(document.paths).find(([path]) => path.endsWith(suffix)) ?? []
  const reference = item?.delete?.responses['200']?.content?.['application/json']?.schema.$ref
  return reference?.slice(reference.lastIndexOf('/') + 1)
}

function subresourceFact(document: GroupVersionDocument, resource: ApiResource): SubresourceFact {
  const { group = document.group, version = document.version, kind, verbs } = resource
  const name = resource.name.slice(resource.name.indexOf('/') + 1)
  const schemaName = schemaNameOf(document, { group, version }, kind)
  return { name, group, version, kind, verbs, ...(schemaName ? { schemaName } : {}) }
}

function schemaNameOf(
  document: GroupVersionDocument,
  { group, version }: { group: string; version: string },
  kind: string,
): string | undefined {
  const found = Object.entries(document.schemas).find(([, schema]) =>
    schema['x-kubernetes-group-version-kind']?.some(
      (gvk) => gvk.group === group && gvk.version === version && gvk.kind === kind,
    ),
  )
  return found?.[0]
}

/**
 * Finds storage versions. Discovery shows the version in which objects are stored only as a hash of group,
 * version and kind, so every candidate is hashed and looked up. If upstream still stores a beta version of a
 * kind that has a stable one, the stable one is taken: beta versions are off by default. Its hash is
 * announced all the same.
 */
function storageHashes(facts: UpstreamFacts): Map<string, { group: string; version: string }> {
  const hashes = new Map<string, { group: string; version: string }>()
  for (const { group, version, resources } of facts.documents) {
    for (const { kind, storageVersionHash } of resources) {
      if (storageVersionHash === undefined) continue
      const stable = facts.documents.find(
        (other) =>
          other.group === group &&
          !other.version.includes('beta') &&
          other.resources.some((resource) => resource.kind === kind),
      )
      hashes.set(`${storageHash({ group, version, kind })} ${kind}`, {
        group,
        version: version.includes('beta') ? (stable?.version ?? version) : version,
      })
    }
  }
  return hashes
}
