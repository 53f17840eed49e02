import { isJsonObject, type AnyObject, type JsonObject } from '@skerry/api'
import { virtualNamespaceLabels, type VirtualGroup } from '../virtual-group.ts'
import { changeAt, ofObject, ofText } from './change-at.ts'
import { clusterScopedRefusals, clusterScopes } from './cluster-scoped-table.ts'
import { mapAllowedRoutes } from './gateway-routes.ts'
import { MappingRefusal } from './mapping-refusal.ts'
import { createMemberNames, type MemberNames } from './member-names.ts'
import { namespacePaths } from './namespace-paths-table.ts'
import { mapNetworkPolicy } from './network-policy.ts'
import { mapClaimSpec, mapPodSpec, podTemplatePaths } from './pod-spec.ts'
import { mapSubjects } from './rbac-subjects.ts'
import { sharedByAnnotation, sharedManifest } from './shared-object.ts'

/** Manifests of one virtual cluster as they stand in the edge cluster. Pure. */
export interface Mapping {
  /** Throws MappingRefusal of what cannot be in a virtual cluster, or not in this one. */
  readonly toMember: (manifest: AnyObject) => AnyObject
  /**
   * The manifest under its name in the edge cluster, its content as it was: enough to find the object.
   * Throws MappingRefusal of a kind or namespace that cannot be in a virtual cluster.
   */
  readonly placeOf: (manifest: AnyObject) => AnyObject
}

export interface MappingOptions {
  /**
   * Pod templates of custom kinds by group and kind: `'apps.kruise.io/CloneSet': ['spec.template']`,
   * `*` for each element of a list. A manifest may declare its own by annotation.
   */
  readonly podTemplatePaths?: Readonly<Record<string, readonly string[]>>
  /** Cluster-scoped custom kinds, as `'cert-manager.io/ClusterIssuer'`, that virtual clusters share. */
  readonly sharedKinds?: readonly string[]
  /** Whether it may bind ClusterRoles in the whole edge cluster, siblings included. Default: no. */
  readonly allowsClusterRights?: boolean
}

/** Of a manifest: where it has pod templates, comma-separated: `spec.template,spec.jobs.*.template`. */
export const podTemplateAnnotation = 'edge.skerry.io/pod-template-paths'

export function createMapping(group: VirtualGroup, options: MappingOptions = {}): Mapping {
  const names = createMemberNames(group)
  return {
    toMember: (manifest) => {
      const told = refusing(manifest, () => {
        const content = mapContent(manifest, names, options)
        return placed(content, names, options)
      })
      return isShared(manifest, options) ? sharedManifest(told, names.clusterName) : told
    },
    placeOf: (manifest) => refusing(manifest, () => placed(manifest, names, options)),
  }
}

/** `apps/Deployment`, `/Pod`: a kind whatever its version. */
function groupKindOf({ apiVersion, kind }: Pick<AnyObject, 'apiVersion' | 'kind'>): string {
  const slash = apiVersion.indexOf('/')
  return `${slash === -1 ? '' : apiVersion.slice(0, slash)}/${kind}`
}

function isShared(manifest: AnyObject, { sharedKinds = [] }: MappingOptions): boolean {
  if (manifest.metadata.namespace) return false
  const groupKind = groupKindOf(manifest)
  return clusterScopes[groupKind] === 'shared' || sharedKinds.includes(groupKind)
}

/** Says of which object it is that a rule deep inside refuses. */
function refusing(manifest: AnyObject, map: () => AnyObject): AnyObject {
  try {
    return map()
  } catch (error) {
    if (!(error instanceof MappingRefusal)) throw error
    const { namespace, name = '' } = manifest.metadata
    const where = namespace ? `${namespace}/${name}` : name
    const message = `Cannot have ${manifest.kind} "${where}" in a virtual cluster: ${error.message}`
    throw new MappingRefusal(message, { cause: error })
  }
}

function placed(manifest: AnyObject, names: MemberNames, options: MappingOptions): AnyObject {
  refuseKind(manifest, options)
  const { namespace, name = '' } = manifest.metadata
  if (namespace) return renamed(manifest, { namespace: names.namespace(namespace) })
  const scope = clusterScopes[groupKindOf(manifest)]
  if (scope === 'own') return renamed(manifest, { name: names.ownName(name) })
  if (scope !== 'namespace') return manifest
  return renamed(ownedNamespace(manifest, names), { name: names.namespace(name) })
}

function refuseKind(manifest: AnyObject, options: MappingOptions): void {
  const groupKind = groupKindOf(manifest)
  if (groupKind.startsWith('edge.skerry.io/')) {
    throw new MappingRefusal("virtual clusters are their edge cluster's to define")
  }
  if (groupKind === '/Binding') {
    throw new MappingRefusal("pods are placed by the edge cluster's own scheduler")
  }
  if (manifest.metadata.namespace) return
  if (clusterScopes[groupKind] === undefined && !isShared(manifest, options)) {
    throw new MappingRefusal(
      'it has no namespace, and would be there for every virtual cluster: install it in the edge cluster itself',
    )
  }
  if (groupKind !== clusterBinding || options.allowsClusterRights === true) return
  throw new MappingRefusal(
    'it would give rights in all virtual clusters of the edge: use a RoleBinding in each namespace',
  )
}

const clusterBinding = 'rbac.authorization.k8s.io/ClusterRoleBinding'

function renamed(manifest: AnyObject, place: { namespace?: string; name?: string }): AnyObject {
  return { ...manifest, metadata: { ...manifest.metadata, ...place } }
}

/** Whose a namespace is, is for its agent to say; what it is called, for the API server. */
function ownedNamespace(manifest: AnyObject, { clusterName }: MemberNames): AnyObject {
  const { labels = {}, name = '' } = manifest.metadata
  const kept = Object.entries(labels).filter(
    ([key]) => !key.startsWith('edge.skerry.io/') && key !== 'kubernetes.io/metadata.name',
  )
  const owned = {
    ...Object.fromEntries(kept),
    [virtualNamespaceLabels.cluster]: clusterName,
    [virtualNamespaceLabels.namespace]: name,
  }
  return { ...manifest, metadata: { ...manifest.metadata, labels: owned } }
}

type ContentRule = (object: JsonObject, names: MemberNames) => JsonObject

const contentRules: Readonly<Record<string, ContentRule>> = Object.freeze({
  '/PersistentVolumeClaim': mapClaim,
  '/Service': (service, names) => changeAt(service, 'spec.externalName', ofText(names.hostName)),
  'apps/StatefulSet': (set, names) =>
    changeAt(
      set,
      'spec.volumeClaimTemplates.*.spec',
      ofObject((claim) => mapClaimSpec(claim, names)),
    ),
  'gateway.networking.k8s.io/Gateway': mapAllowedRoutes,
  'networking.k8s.io/NetworkPolicy': mapNetworkPolicy,
  'rbac.authorization.k8s.io/ClusterRoleBinding': mapSubjects,
  'rbac.authorization.k8s.io/RoleBinding': mapSubjects,
})

function mapClaim(claim: JsonObject, names: MemberNames): JsonObject {
  return changeAt(
    claim,
    'spec',
    ofObject((spec) => mapClaimSpec(spec, names)),
  )
}

function mapContent(manifest: AnyObject, names: MemberNames, options: MappingOptions): AnyObject {
  const groupKind = groupKindOf(manifest)
  const refusal = clusterScopedRefusals[groupKind]?.(manifest)
  if (refusal !== undefined) throw new MappingRefusal(refusal)
  const { [sharedByAnnotation]: _claimed, ...annotations } = manifest.metadata.annotations ?? {}
  let mapped: JsonObject = manifest.metadata.annotations
    ? { ...manifest, metadata: { ...manifest.metadata, annotations } }
    : manifest
  mapped = contentRules[groupKind]?.(mapped, names) ?? mapped
  for (const path of namespacePaths[groupKind] ?? []) {
    mapped = changeAt(mapped, path, ofText(names.namespace))
  }
  for (const path of templatePathsOf(manifest, options)) {
    mapped = changeAt(mapped, path === '' ? 'spec' : `${path}.spec`, (spec) =>
      mapPodSpec(isJsonObject(spec) ? spec : {}, names),
    )
  }
  // What was changed stands below metadata, spec and the like: an object it still is.
  return mapped as AnyObject
}

function templatePathsOf(manifest: AnyObject, options: MappingOptions): ReadonlySet<string> {
  const groupKind = groupKindOf(manifest)
  const declared = manifest.metadata.annotations?.[podTemplateAnnotation] ?? ''
  return new Set([
    ...(podTemplatePaths[groupKind] ?? []),
    ...(options.podTemplatePaths?.[groupKind] ?? []),
    ...declared
      .split(',')
      .map((path) => path.trim())
      .filter((path) => path !== ''),
  ])
}
