import type { GroupResource } from '@skerry/api'

/**
 * How a virtual cluster sees a kind without a namespace:
 * - `shared`: all objects of the edge cluster; read only.
 * - `nodes`: nodes of the group.
 * - `named-as-nodes`: objects of other kinds that have the name of a node of the group.
 * - `claimed`: volumes that are claimed in its namespaces.
 * - `own`: objects that it was sent under names of its own; read only.
 * - `namespaces`: its own.
 * - `review`: questions, which are answered with its namespaces.
 * - `sent`: objects that it was sent and shares with others, by their annotation; read only.
 */
export type SeenAs =
  | 'shared'
  | 'own'
  | 'nodes'
  | 'named-as-nodes'
  | 'claimed'
  | 'namespaces'
  | 'review'
  | 'sent'

const seenAs: Readonly<Record<string, SeenAs>> = Object.freeze({
  '/namespaces': 'namespaces',
  '/nodes': 'nodes',
  '/persistentvolumes': 'claimed',
  'metrics.k8s.io/nodes': 'named-as-nodes',
  'storage.k8s.io/csinodes': 'named-as-nodes',
  'apiextensions.k8s.io/customresourcedefinitions': 'shared',
  'apiregistration.k8s.io/apiservices': 'shared',
  'gateway.networking.k8s.io/gatewayclasses': 'shared',
  'networking.k8s.io/ingressclasses': 'shared',
  'node.k8s.io/runtimeclasses': 'shared',
  'rbac.authorization.k8s.io/clusterrolebindings': 'own',
  'rbac.authorization.k8s.io/clusterroles': 'shared',
  'resource.k8s.io/deviceclasses': 'shared',
  'scheduling.k8s.io/priorityclasses': 'shared',
  'snapshot.storage.k8s.io/volumesnapshotclasses': 'shared',
  'storage.k8s.io/csidrivers': 'shared',
  'storage.k8s.io/storageclasses': 'shared',
  'storage.k8s.io/volumeattributesclasses': 'shared',
  'authentication.k8s.io/selfsubjectreviews': 'review',
  'authentication.k8s.io/tokenreviews': 'review',
  'authorization.k8s.io/selfsubjectaccessreviews': 'review',
  'authorization.k8s.io/selfsubjectrulesreviews': 'review',
  'authorization.k8s.io/subjectaccessreviews': 'review',
})

/**
 * Returns how a kind is seen. For kinds that are not in the table, only objects that the virtual cluster
 * itself was sent.
 */
export function seenAsOf({ group, resource }: GroupResource): SeenAs {
  const key = `${group}/${resource}`
  return Object.hasOwn(seenAs, key) ? (seenAs[key] ?? 'sent') : 'sent'
}

/** Reports whether objects of the kind belong to namespaces or are namespaces. */
export function isInNamespaces(seenAs: SeenAs | undefined): boolean {
  return seenAs === undefined || seenAs === 'namespaces'
}

const changingVerbs: ReadonlySet<string> = new Set([
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
  '*',
])
/** Only the edge creates nodes and assigns them; a virtual cluster may cordon its own, for example. */
const nodeVerbs: ReadonlySet<string> = new Set(['update', 'patch', 'delete'])

export interface Change {
  /** Undefined for kinds that have a namespace. */
  readonly seenAs: SeenAs | undefined
  readonly verb: string
  readonly subresource: string
}

/** Reports whether only the edge cluster may make the change, whatever rights the user has there. */
export function isReadOnly({ seenAs, verb, subresource }: Change): boolean {
  if (subresource === 'proxy' && seenAs !== undefined) return true
  if (!changingVerbs.has(verb)) return false
  if (subresource === 'binding') return true
  if (isInNamespaces(seenAs) || seenAs === 'review') return false
  return seenAs !== 'nodes' || subresource !== '' || !nodeVerbs.has(verb)
}
