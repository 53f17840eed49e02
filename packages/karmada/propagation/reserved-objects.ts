import type { TemplateRef } from './templates.ts'

/** Namespaces of the fleet itself, and of Kubernetes: what is in them belongs to the hub alone. */
const reserved = /^(karmada-(system|cluster|es-.*)|kube-.*)$/

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
export function isPropagatable({
  kind,
  namespace = '',
  name,
}: Omit<TemplateRef, 'apiVersion'>): boolean {
  const called = `${kind} ${name}`
  if (reserved.test(namespace) || (namespace !== '' && ownOfEach.has(called))) return false
  return namespace !== 'default' || !ownOfDefault.has(called)
}

/** Whether a namespace itself is made in a cluster: each has a `default` of its own. */
export function isOwnNamespace(name: string): boolean {
  return name !== 'default' && !reserved.test(name)
}
