import { isJsonObject, type AnyObject, type JsonObject, type ObjectMeta } from '@skerry/api'
import {
  type ManifestMapping,
  MappingRefusal,
  isSharingKey,
  sharedManifest,
  sharedPlace,
} from '@skerry/cluster-agent'
import { isolationName, virtualNamespaceLabels, type VirtualGroup } from '@skerry/fleet-kinds'
import { changeAt, ofObject, valuesAt } from './change-at.ts'
import { clusterScopedRefusals, clusterScopes } from './cluster-scoped-table.ts'
import type { NodeLabels } from './contradiction.ts'
import { refuseExternalAddresses, type ExternalAddresses } from './external-addresses.ts'
import { groupKindOf } from './group-kind.ts'
import { confinedLabels, refuseHostPod, refuseVolumeSource } from './host-access.ts'
import { mapReferences } from './map-references.ts'
import { createMemberNames, namespaceNameLabel, type MemberNames } from './member-names.ts'
import { applicationTemplatePaths, mapPodSpec, podTemplatePaths } from './pod-spec.ts'
import { kindReferences } from './reference-table.ts'
import { statusFromMember } from './status-from-member.ts'
import { wordless } from './wordless.ts'

/**
 * Maps manifests of one virtual cluster to the edge cluster. Pure. `toMember` throws MappingRefusal for an
 * object that cannot be in a virtual cluster, or not in this one. `placeOf` also finds objects that were
 * allowed once, and refuses only a namespace that no virtual cluster can have.
 */
export type Mapping = ManifestMapping

export interface MappingOptions {
  /**
   * The pod templates of custom kinds by group and kind: `'apps.kruise.io/CloneSet': ['spec.template']`, with
   * `*` for each element of a list. A manifest may declare its own by annotation.
   */
  readonly podTemplatePaths?: Readonly<Record<string, readonly string[]>>
  /** Cluster-scoped custom kinds that virtual clusters share, for example `'cert-manager.io/ClusterIssuer'`. */
  readonly sharedKinds?: readonly string[]
  /** The labels that every node of the group has. If omitted, none are known. */
  readonly nodeLabels?: NodeLabels
  /** Whether it may bind ClusterRoles in the whole edge cluster, including siblings. Default: no. */
  readonly allowsClusterRights?: boolean
  /** Allows its pods and volumes to reach the machines of its nodes, and disks by their handle. Default: no. */
  readonly allowsHostAccess?: boolean
  /**
   * Volume sources that PersistentVolumes may use, as field names of their spec, for example `nfs`. Default:
   * none.
   */
  readonly volumeSources?: readonly string[]
  /** Addresses on which its services may be served in addition to its own nodes' ports. Default: none. */
  readonly externalAddresses?: ExternalAddresses
}

/**
 * Names the annotation that lists where a manifest has pod templates, comma-separated:
 * `spec.template,spec.jobs.*.template`.
 */
const podTemplateAnnotation = 'edge.skerry.io/pod-template-paths'

export function createMapping(group: VirtualGroup, options: MappingOptions = {}): Mapping {
  const names = createMemberNames(group)
  return {
    toMember: (sent) =>
      refusing(sent, (manifest) => {
        const meant = mapWhole(manifest, names, options)
        return isShared(manifest) ? sharedManifest(meant, group.clusterName) : meant
      }),
    placeOf: (sent) =>
      refusing(sent, (manifest) => {
        const place = placed(manifest, names)
        return isShared(manifest) ? sharedPlace(place, group.clusterName) : place
      }),
    fromMember: (manifest, status) => statusFromMember(manifest, status, names),
  }
}

/** The lists of whole objects that a kind makes. */
const innerManifests: Readonly<Record<string, string>> = Object.freeze({
  'apps.kubeedge.io/EdgeApplication': 'spec.workloadTemplate.manifests.*',
})

function mapWhole(manifest: AnyObject, names: MemberNames, options: MappingOptions): AnyObject {
  refuseKind(manifest, options)
  refuseExternalAddresses(manifest, options.externalAddresses)
  if (options.allowsHostAccess !== true) refuseHostAccess(manifest, options)
  const meant = placed(mapContent(confined(manifest, options), names, options), names)
  const path = innerManifests[groupKindOf(manifest)]
  if (path === undefined) return meant
  const { namespace } = manifest.metadata
  const mapInner = ofObject((inner) => mapInnerManifest(inner, namespace, { names, options }))
  // Only manifests in its spec change, so it is still an object.
  return changeAt(meant, path, mapInner) as AnyObject
}

/** Maps an object that the owner makes in its own namespace. An item that is not a whole object is not made. */
function mapInnerManifest(
  inner: JsonObject,
  namespace: string | undefined,
  { names, options }: { readonly names: MemberNames; readonly options: MappingOptions },
): JsonObject {
  const { apiVersion, kind, metadata } = inner
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || !isJsonObject(metadata)) {
    return inner
  }
  const own = metadata['namespace'] ?? namespace
  // The texts in it are checked.
  const checked = wellFormed({ ...metadata, namespace: own } as ObjectMeta)
  const whole = { ...inner, apiVersion, kind, metadata: checked }
  const { metadata: mapped, ...content } = mapWhole(whole, names, options)
  const { namespace: _added, ...unnamed } = mapped
  return { ...content, metadata: 'namespace' in metadata ? mapped : unnamed }
}

function refuseHostAccess(manifest: AnyObject, options: MappingOptions): void {
  if (groupKindOf(manifest) === persistentVolume) {
    refuseVolumeSource(manifest, options.volumeSources ?? [])
  }
  for (const path of templatePathsOf(manifest, options)) {
    for (const spec of valuesAt(manifest, specPathOf(path)))
      if (isJsonObject(spec)) refuseHostPod(spec)
  }
}

/** Adds the label that confines pods which users create in a namespace of the virtual cluster. */
function confined(manifest: AnyObject, options: MappingOptions): AnyObject {
  if (groupKindOf(manifest) !== '/Namespace' || options.allowsHostAccess === true) return manifest
  const labels = confinedLabels(manifest.metadata.labels ?? {})
  return { ...manifest, metadata: { ...manifest.metadata, labels } }
}

/** Reports whether the object is shared: of a kind without a namespace that is allowed but not in the table. */
function isShared(manifest: AnyObject): boolean {
  if (manifest.metadata.namespace) return false
  return (clusterScopes[groupKindOf(manifest)] ?? 'shared') === 'shared'
}

/** Adds the object's name to a refusal from a rule deep inside. */
function refusing(sent: AnyObject, map: (manifest: AnyObject) => AnyObject): AnyObject {
  try {
    return map({ ...sent, metadata: wellFormed(sent.metadata) })
  } catch (error) {
    if (!(error instanceof MappingRefusal)) throw error
    const { kind } = sent
    const { namespace, name = '' } = sent.metadata
    const where = namespace ? `${namespace}/${name}` : name
    const message = `Cannot have ${kind} "${where}" in a virtual cluster: ${error.message}`
    throw new MappingRefusal(message, { cause: error })
  }
}

/** Checks the metadata: a control plane forwards a manifest's metadata unchecked. */
function wellFormed({ labels, annotations, ...metadata }: ObjectMeta): ObjectMeta {
  for (const text of [metadata.name, metadata.namespace]) {
    if (text === undefined || typeof text === 'string') continue
    throw new MappingRefusal('its name and namespace are not strings')
  }
  return {
    ...metadata,
    ...(isTextMap(labels) ? { labels } : {}),
    ...(isTextMap(annotations) ? { annotations } : {}),
  }
}

function isTextMap(texts: unknown): boolean {
  if (texts === undefined || texts === null) return false
  if (isJsonObject(texts) && Object.values(texts).every((text) => typeof text === 'string')) {
    return true
  }
  throw new MappingRefusal('its labels or annotations are not a map of strings')
}

function placed(manifest: AnyObject, names: MemberNames): AnyObject {
  const { namespace, name = '' } = manifest.metadata
  const scope = clusterScopes[groupKindOf(manifest)]
  if (namespace) {
    if (scope !== undefined) throw new MappingRefusal('objects of its kind have no namespace')
    return renamed(manifest, { namespace: names.namespace(namespace) })
  }
  switch (scope) {
    case 'own':
      return renamed(owned(manifest, names.clusterName), { name: names.ownName(name) })
    case 'namespace':
      return renamed(ownedNamespace(manifest, names.clusterName), { name: names.namespace(name) })
    case 'shared':
    case undefined:
    default:
      return manifest
  }
}

function refuseKind(manifest: AnyObject, options: MappingOptions): void {
  const groupKind = groupKindOf(manifest)
  if (groupKind.startsWith('edge.skerry.io/')) {
    throw new MappingRefusal("virtual clusters are their edge cluster's to define")
  }
  if (groupKind === '/Binding') {
    throw new MappingRefusal("pods are placed by the edge cluster's own scheduler")
  }
  if (isolatingKinds.has(groupKind) && manifest.metadata.name === isolationName) {
    throw new MappingRefusal(
      `its edge cluster isolates it by an object of that name: choose another than "${isolationName}"`,
    )
  }
  if (manifest.metadata.namespace) return
  const isAllowed =
    clusterScopes[groupKind] !== undefined || options.sharedKinds?.includes(groupKind)
  if (!isAllowed) {
    throw new MappingRefusal(
      'it has no namespace and would exist for every virtual cluster: install it in the edge cluster itself',
    )
  }
  if (groupKind !== clusterBinding || options.allowsClusterRights === true) return
  throw new MappingRefusal(
    'it would give rights in all virtual clusters of the edge: use a RoleBinding in each namespace, or have the edge set spec.isolation.allowsClusterRights',
  )
}

const isolatingKinds = new Set(['/ResourceQuota', 'networking.k8s.io/NetworkPolicy'])
const persistentVolume = '/PersistentVolume'
const clusterBinding = 'rbac.authorization.k8s.io/ClusterRoleBinding'

function renamed(manifest: AnyObject, place: { namespace?: string; name?: string }): AnyObject {
  return { ...manifest, metadata: { ...manifest.metadata, ...place } }
}

/** Sets the owner label, replacing whatever the manifest has: only the agent decides whose an object is. */
function owned(manifest: AnyObject, clusterName: string): AnyObject {
  const labels = { ...manifest.metadata.labels, [virtualNamespaceLabels.cluster]: clusterName }
  return { ...manifest, metadata: { ...manifest.metadata, labels } }
}

/** Drops the manifest's name label of a namespace: only its API server sets it. */
function ownedNamespace(manifest: AnyObject, clusterName: string): AnyObject {
  const { name = '', labels } = owned(manifest, clusterName).metadata
  const { [namespaceNameLabel]: _edgeName, ...kept } = labels ?? {}
  const named = { ...kept, [virtualNamespaceLabels.namespace]: name }
  return { ...manifest, metadata: { ...manifest.metadata, labels: named } }
}

function mapContent(manifest: AnyObject, names: MemberNames, options: MappingOptions): AnyObject {
  const groupKind = groupKindOf(manifest)
  const refusal = clusterScopedRefusals[groupKind]?.(manifest)
  if (refusal !== undefined) throw new MappingRefusal(refusal)
  const unclaimed = withoutSharing(manifest)
  const plain = wordless[groupKind]?.(unclaimed) ?? unclaimed
  let mapped = mapReferences(plain, kindReferences[groupKind] ?? {}, names)
  for (const path of templatePathsOf(manifest, options)) {
    mapped = changeAt(mapped, specPathOf(path), (spec) =>
      mapPodSpec(isJsonObject(spec) ? spec : {}, names, options.nodeLabels),
    )
  }
  // Only fields below metadata, spec and the like change, so it is still an object.
  return mapped as AnyObject
}

/** Drops the annotations that list sharers: only agents set them. */
function withoutSharing(manifest: AnyObject): JsonObject {
  const { annotations } = manifest.metadata
  if (annotations === undefined) return manifest
  const kept = Object.entries(annotations).filter(([key]) => !isSharingKey(key))
  return { ...manifest, metadata: { ...manifest.metadata, annotations: Object.fromEntries(kept) } }
}

const specPathOf = (templatePath: string): string =>
  templatePath === '' ? 'spec' : `${templatePath}.spec`

function templatePathsOf(manifest: AnyObject, options: MappingOptions): ReadonlySet<string> {
  const groupKind = groupKindOf(manifest)
  const declared = manifest.metadata.annotations?.[podTemplateAnnotation] ?? ''
  return new Set([
    ...(podTemplatePaths[groupKind] ?? []),
    ...(applicationTemplatePaths[groupKind] ?? []),
    ...(options.podTemplatePaths?.[groupKind] ?? []),
    ...declared
      .split(',')
      .map((path) => path.trim())
      .filter((path) => path !== ''),
  ])
}
