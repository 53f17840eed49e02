import type { KubeObject } from '@skerry/api'

/** Namespaces of the fleet itself, and of Kubernetes: what is in them belongs to the hub alone. */
const reserved = /^(karmada-(system|cluster|es-.*)|kube-.*)$/

/** Whether an object may go to a cluster at all. */
export function isPropagatable({ metadata }: KubeObject): boolean {
  return !reserved.test(metadata.namespace ?? '')
}

/** Whether a namespace itself is made in a cluster: each has a `default` of its own. */
export function isOwnNamespace(name: string): boolean {
  return name !== 'default' && !reserved.test(name)
}
