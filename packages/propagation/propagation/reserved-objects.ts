import type { TemplateRef } from './templates.ts'

/**
 * The namespaces of the fleet itself, of its users' tokens, of the agent at each edge, and of
 * Kubernetes: what is in them belongs to the hub, or to the edge, alone.
 */
const reserved = /^(karmada-(system|cluster|es-.*)|skerry-(agent|users)|kube-.*)$/

/** API groups of the fleet itself. An edge that is a hub, too, would act on their objects. */
const fleetGroup =
  /^((apps|autoscaling|cluster|config|networking|policy|remedy|work)\.karmada\.io|hub\.skerry\.io)$/

/** Karmada leaves these to each cluster as well: they tell what goes on there. */
const ownKinds: ReadonlySet<string> = new Set(['v1 Event', 'coordination.k8s.io/v1 Lease'])
const eventsGroup = 'events.k8s.io'

/** What every cluster makes for itself: that of the hub in its place would cut its pods off. */
const ownOfEach: ReadonlySet<string> = new Set([
  'ConfigMap kube-root-ca.crt',
  'ServiceAccount default',
])
const ownOfDefault: ReadonlySet<string> = new Set([
  'Service kubernetes',
  'Endpoints kubernetes',
  'EndpointSlice kubernetes',
])

/** Whether an object may go to a cluster at all. */
export function isPropagatable({ apiVersion, kind, namespace = '', name }: TemplateRef): boolean {
  const group = apiVersion.slice(0, Math.max(0, apiVersion.indexOf('/')))
  if (fleetGroup.test(group) || group === eventsGroup) return false
  if (ownKinds.has(`${apiVersion} ${kind}`)) return false
  const called = `${kind} ${name}`
  if (reserved.test(namespace) || (namespace !== '' && ownOfEach.has(called))) return false
  return namespace !== 'default' || !ownOfDefault.has(called)
}

/** Whether a namespace itself is made in a cluster: each has a `default` of its own. */
export function isOwnNamespace(name: string): boolean {
  return name !== 'default' && !reserved.test(name)
}
