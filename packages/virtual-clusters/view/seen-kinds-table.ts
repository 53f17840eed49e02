import type { GroupResource } from '@skerry/api'

/**
 * What of a kind without a namespace a virtual cluster sees.
 * - `shared`: all objects; they are the edge cluster's, and are read only.
 * - `nodes`: nodes of the group.
 * - `named-as-nodes`: objects of other kinds that bear the name of a node of the group.
 * - `claimed`: volumes that are claimed in its namespaces.
 * - `own`: what it was sent and has under a name of its own; read only.
 * - `namespaces`: its own.
 * - `review`: questions, which are answered with its namespaces.
 * - `sent`: what it was sent and shares with others, by the annotation that says so; read only.
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

/** Of kinds that are not in the table nothing is shown but what the virtual cluster itself was sent. */
export function seenAsOf({ group, resource }: GroupResource): SeenAs {
  const key = `${group}/${resource}`
  return Object.hasOwn(seenAs, key) ? (seenAs[key] ?? 'sent') : 'sent'
}

/** Kinds whose objects belong to namespaces, and these themselves. */
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
/** Which nodes there are, and of whom, is the edge's to say; one of the group may be cordoned. */
const nodeVerbs: ReadonlySet<string> = new Set(['update', 'patch', 'delete'])

export interface Change {
  /** Undefined of kinds that have a namespace. */
  readonly seenAs: SeenAs | undefined
  readonly verb: string
  readonly subresource: string
}

/** Whether a virtual cluster leaves this to the edge cluster, whatever rights somebody has there. */
export function isReadOnly({ seenAs, verb, subresource }: Change): boolean {
  if (subresource === 'proxy' && seenAs !== undefined) return true
  if (!changingVerbs.has(verb)) return false
  if (subresource === 'binding') return true
  if (isInNamespaces(seenAs) || seenAs === 'review') return false
  return seenAs !== 'nodes' || subresource !== '' || !nodeVerbs.has(verb)
}
