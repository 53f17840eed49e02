import type { TemplateRef } from './templates.ts'

/**
 * The namespaces of the fleet itself, of its users' tokens, of the agent at each edge, and of Kubernetes:
 * their objects belong to the hub, or to the edge, alone.
 */
const reserved = /^(karmada-(system|cluster|es-.*)|skerry-(agent|users)|kube-.*)$/

/** The API groups of the fleet itself. An edge that is also a hub would act on their objects. */
const fleetGroup =
  /^((apps|autoscaling|cluster|config|networking|policy|remedy|work)\.karmada\.io|hub\.skerry\.io)$/

/** Karmada also leaves these to each cluster: they report local events. */
const ownKinds: ReadonlySet<string> = new Set(['v1 Event', 'coordination.k8s.io/v1 Lease'])
const eventsGroup = 'events.k8s.io'

/** Objects that every cluster creates for itself. The hub's version would cut its pods off. */
const ownOfEach: ReadonlySet<string> = new Set([
  'ConfigMap kube-root-ca.crt',
  'ServiceAccount default',
])
const ownOfDefault: ReadonlySet<string> = new Set([
  'Service kubernetes',
  'Endpoints kubernetes',
  'EndpointSlice kubernetes',
])

/** Reports whether an object may go to a cluster at all. */
export function isPropagatable({ apiVersion, kind, namespace = '', name }: TemplateRef): boolean {
  const group = apiVersion.slice(0, Math.max(0, apiVersion.indexOf('/')))
  if (fleetGroup.test(group) || group === eventsGroup) return false
  if (ownKinds.has(`${apiVersion} ${kind}`)) return false
  const called = `${kind} ${name}`
  if (reserved.test(namespace) || (namespace !== '' && ownOfEach.has(called))) return false
  return namespace !== 'default' || !ownOfDefault.has(called)
}

/** Reports whether the namespace itself is created in a cluster: each has its own `default`. */
export function isOwnNamespace(name: string): boolean {
  return name !== 'default' && !reserved.test(name)
}
