import {
  bootstrapSecretType,
  isJsonObject,
  matchesNodeAffinity,
  podReferences,
  type AnyObject,
  type OwnerReference,
  type Pod,
  type PodSpec,
} from '@skerry/api'
import { handedOverTaint } from '@skerry/controllers'

/** An object as the store has it. */
export interface StoredObject {
  readonly key: string
  /** `<group or core>/<resource>`. */
  readonly resource: string
  readonly object: AnyObject
}

/** The objects of a cluster that go with some of its nodes. */
export interface UnitShare {
  /** Objects that belong to these nodes alone. */
  readonly moved: readonly StoredObject[]
  /** Objects that others use, too; the unit gets copies. */
  readonly lent: readonly StoredObject[]
}

/** Objects of these kinds are moved with the pods that they make. */
const makers: ReadonlySet<string> = new Set([
  'apps/deployments',
  'apps/replicasets',
  'apps/statefulsets',
  'core/replicationcontrollers',
  'batch/jobs',
  'batch/cronjobs',
])

const lentInNamespaces: ReadonlySet<string> = new Set([
  'core/configmaps',
  'core/endpoints',
  'core/limitranges',
  'core/resourcequotas',
  'core/secrets',
  'core/serviceaccounts',
  'core/services',
  'apps/controllerrevisions',
  'apps/daemonsets',
  'discovery.k8s.io/endpointslices',
  'networking.k8s.io/ingresses',
  'networking.k8s.io/networkpolicies',
  'policy/poddisruptionbudgets',
  'rbac.authorization.k8s.io/rolebindings',
  'rbac.authorization.k8s.io/roles',
])

const lentToAll: ReadonlySet<string> = new Set([
  'networking.k8s.io/ingressclasses',
  'node.k8s.io/runtimeclasses',
  'rbac.authorization.k8s.io/clusterrolebindings',
  'rbac.authorization.k8s.io/clusterroles',
  'scheduling.k8s.io/priorityclasses',
  'storage.k8s.io/csidrivers',
  'storage.k8s.io/storageclasses',
])

/** Resources that never go with a unit, and need not be read to see that. */
export function isLeftUnread(resource: string): boolean {
  return resource === 'core/events' || resource === 'events.k8s.io/events'
}

/** Splits `/registry/<group or core>/<resource>/…`; undefined for another key. */
export function resourceOfKey(key: string): string | undefined {
  return /^\/registry\/([^/]+\/[^/]+)\//.exec(key)?.[1]
}

/**
 * Finds what belongs to nodes: they themselves, their pods, the objects that make those, with everything that these own, and
 * claims and volumes. In the namespaces of those objects, it finds what is lent, too.
 */
export function shareOf(objects: readonly StoredObject[], nodes: ReadonlySet<string>): UnitShare {
  const moved = new Set(objects.filter((each) => isOfNode(each, nodes)))
  const all = objects.filter(({ resource }) => resource === 'core/nodes')
  const places = {
    inside: all.filter((each) => moved.has(each)),
    outside: all.filter((each) => !moved.has(each)),
  }
  for (const each of objects) if (isBoundTo(each, places)) moved.add(each)
  const byUid = new Map(objects.map((each) => [uidOf(each), each]))
  const owned = Map.groupBy(
    objects.flatMap((each) => ownersOf(each).map(({ uid }) => ({ uid, each }))),
    ({ uid }) => uid,
  )
  // The loop reaches objects that it adds.
  for (const each of moved) {
    for (const { uid } of ownersOf(each)) {
      const owner = byUid.get(uid)
      if (owner && makers.has(owner.resource)) moved.add(owner)
    }
    for (const child of owned.get(uidOf(each)) ?? []) moved.add(child.each)
  }
  const isClaim = claimsOf([...moved])
  for (const each of objects) if (isClaim(each) || scales(each, moved)) moved.add(each)
  const claims = new Set([...moved].filter(isClaim).map(uidOf))
  for (const each of objects) if (isVolumeOf(each, claims)) moved.add(each)
  const namespaces = namespacesOf([...moved])
  const lent = objects.filter((each) => !moved.has(each) && isLent(each, namespaces))
  return { moved: [...moved], lent }
}

/** Returns the namespaces whose users notice that a unit has gone. */
export function namespacesOf(moved: readonly StoredObject[]): Set<string> {
  const names = moved.map(({ object }) => object.metadata.namespace ?? '')
  return new Set(names.filter((name) => name !== '' && name !== 'kube-node-lease'))
}

/** Removes owners that stay behind, which garbage collection would miss, and the parent's mark of a node. */
export function copyOf({ object }: StoredObject, uids: ReadonlySet<string>): AnyObject {
  const { ownerReferences, ...metadata } = object.metadata
  const kept = (ownerReferences ?? []).filter(({ uid }) => uids.has(uid))
  const copy = {
    ...object,
    metadata: { ...metadata, ...(kept.length > 0 ? { ownerReferences: kept } : {}) },
  }
  return withoutMark(copy)
}

/** Returns an object of the unit with the owners that it had here, of which the unit does not know. */
export function comeBack(object: AnyObject, before: AnyObject | undefined): AnyObject {
  const { ownerReferences: now = [], ...metadata } = object.metadata
  const had = before?.metadata.uid === object.metadata.uid ? before?.metadata.ownerReferences : []
  const known = new Set(now.map(({ uid }) => uid))
  const all = [...now, ...(had ?? []).filter(({ uid }) => !known.has(uid))]
  return {
    ...object,
    metadata: { ...metadata, ...(all.length > 0 ? { ownerReferences: all } : {}) },
  }
}

/** Returns a node with the mark of its unit. */
export function withMark(node: AnyObject, unit: string): AnyObject {
  const clean = withoutMark(node)
  const taint = { key: handedOverTaint, value: unit, effect: 'NoSchedule' }
  return withTaints(clean, [...taintsOf(clean), taint])
}

export function withoutMark(node: AnyObject): AnyObject {
  const taints = taintsOf(node)
  const kept = taints.filter((taint) => !isMark(taint))
  return kept.length === taints.length ? node : withTaints(node, kept)
}

function withTaints(node: AnyObject, taints: readonly unknown[]): AnyObject {
  const { taints: _replaced, ...spec } = isJsonObject(node['spec']) ? node['spec'] : {}
  return { ...node, spec: { ...spec, ...(taints.length > 0 ? { taints } : {}) } }
}

function taintsOf(node: AnyObject): readonly unknown[] {
  if (node.kind !== 'Node' || !isJsonObject(node['spec'])) return []
  const { taints } = node['spec']
  return Array.isArray(taints) ? taints : []
}

function isMark(taint: unknown): boolean {
  return isJsonObject(taint) && taint['key'] === handedOverTaint
}

function isOfNode({ key, resource, object }: StoredObject, nodes: ReadonlySet<string>): boolean {
  const { name = '', namespace } = object.metadata
  if (resource === 'core/nodes' || resource === 'storage.k8s.io/csinodes') return nodes.has(name)
  if (resource === 'coordination.k8s.io/leases') {
    return namespace === 'kube-node-lease' && nodes.has(name)
  }
  return nodes.has(nodeNameOf({ key, resource, object }))
}

/** Returns whether pods of a maker can run in the unit and nowhere else, even if it has none now. */
function isBoundTo(
  each: StoredObject,
  { inside, outside }: Readonly<Record<'inside' | 'outside', readonly StoredObject[]>>,
): boolean {
  return makers.has(each.resource) && mayRunOn(each, inside) && !mayRunOn(each, outside)
}

/** Returns whether a pod, or those that an object makes, may run on one of these nodes. */
export function mayRunOn(each: StoredObject, nodes: readonly StoredObject[]): boolean {
  const pods = podSpecOf(each)
  if (pods === undefined) return false
  return nodes.some(({ object: { metadata } }) =>
    matchesNodeAffinity(pods, { name: metadata.name ?? '', labels: metadata.labels ?? {} }),
  )
}

function podSpecOf({ resource, object }: StoredObject): PodSpec | undefined {
  const { spec } = object
  if (!isJsonObject(spec)) return undefined
  // The server has checked them.
  if (resource === 'core/pods') return spec as unknown as PodSpec
  if (!makers.has(resource) && resource !== 'apps/daemonsets') return undefined
  const ofCron = isJsonObject(spec['jobTemplate']) ? spec['jobTemplate']['spec'] : spec
  const template = isJsonObject(ofCron) ? ofCron['template'] : undefined
  if (!isJsonObject(template) || !isJsonObject(template['spec'])) return undefined
  return template['spec'] as unknown as PodSpec
}

/** Returns the node of a pod; '' if it has none, or the object is not a pod. */
export function nodeNameOf({ resource, object }: StoredObject): string {
  return resource === 'core/pods' ? (podOf(object).spec?.nodeName ?? '') : ''
}

/** Returns a test for the claims of pods, and of sets that are scaled down, which keep those of pods that are gone. */
function claimsOf(moved: readonly StoredObject[]): (each: StoredObject) => boolean {
  const used = new Set(
    moved
      .filter(({ resource }) => resource === 'core/pods')
      .flatMap(({ object }) => podReferences(podOf(object)))
      .filter(({ resource }) => resource === 'persistentvolumeclaims')
      .map(({ namespace, name }) => `${namespace}/${name}`),
  )
  const sets = moved.filter(({ resource }) => resource === 'apps/statefulsets')
  return ({ resource, object }) => {
    if (resource !== 'core/persistentvolumeclaims') return false
    const { namespace = '', name = '' } = object.metadata
    if (used.has(`${namespace}/${name}`)) return true
    return sets.some(
      (set) => set.object.metadata.namespace === namespace && isClaimOfSet(name, set.object),
    )
  }
}

function isClaimOfSet(claim: string, { metadata, spec }: AnyObject): boolean {
  const templates = isJsonObject(spec) ? spec['volumeClaimTemplates'] : undefined
  if (!Array.isArray(templates)) return false
  return templates.some((template: unknown) => {
    const named = isJsonObject(template) ? template['metadata'] : undefined
    const start = `${isJsonObject(named) ? String(named['name']) : ''}-${metadata.name ?? ''}-`
    return claim.startsWith(start) && /^\d+$/.test(claim.slice(start.length))
  })
}

function scales({ resource, object }: StoredObject, moved: ReadonlySet<StoredObject>): boolean {
  if (resource !== 'autoscaling/horizontalpodautoscalers') return false
  const { spec, metadata } = object
  const target = isJsonObject(spec) ? spec['scaleTargetRef'] : undefined
  if (!isJsonObject(target)) return false
  return [...moved].some(
    (each) =>
      each.object.metadata.namespace === metadata.namespace &&
      each.object.metadata.name === target['name'] &&
      each.object.kind === target['kind'],
  )
}

function isVolumeOf({ resource, object }: StoredObject, claims: ReadonlySet<string>): boolean {
  if (resource !== 'core/persistentvolumes') return false
  const claim = isJsonObject(object['spec']) ? object['spec']['claimRef'] : undefined
  return isJsonObject(claim) && claims.has(String(claim['uid']))
}

function isLent({ resource, object }: StoredObject, namespaces: ReadonlySet<string>): boolean {
  const { namespace, name = '' } = object.metadata
  // Its uid is the identity of a cluster, and the unit is another one.
  if (resource === 'core/namespaces') return namespaces.has(name) && name !== 'kube-system'
  if (resource === 'networking.k8s.io/ipaddresses') return namespaces.has(namespaceOfParent(object))
  if (namespace === undefined) return lentToAll.has(resource)
  if (!namespaces.has(namespace) || !lentInNamespaces.has(resource)) return false
  // The unit has an authority of its own, and lets machines join by itself.
  if (resource === 'core/configmaps' && name === 'kube-root-ca.crt') return false
  return !(resource === 'core/secrets' && object['type'] === bootstrapSecretType)
}

function namespaceOfParent({ spec }: AnyObject): string {
  const parent = isJsonObject(spec) ? spec['parentRef'] : undefined
  const { namespace } = isJsonObject(parent) ? parent : {}
  return typeof namespace === 'string' ? namespace : ''
}

function ownersOf({ object }: StoredObject): readonly OwnerReference[] {
  return object.metadata.ownerReferences ?? []
}

function uidOf({ object }: StoredObject): string {
  return object.metadata.uid ?? ''
}

/** The store has only pods that the server has checked. */
function podOf(object: AnyObject): Pod {
  return object as Pod
}
