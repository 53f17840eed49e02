import type { KubeObject } from '@skerry/api'

/**
 * Label of a virtual cluster's Cluster: the cluster whose agent answers for it. The hub alone writes
 * it, when that agent registers the virtual cluster.
 */
export const virtualOfKey = 'hub.skerry.io/virtual-of'

/** Annotation of a virtual cluster's Cluster: until when its newest certificate is good; RFC 3339. */
export const certificateExpiresKey = 'hub.skerry.io/certificate-expires'

/** Whose agent answers for this Cluster; undefined of a cluster with an agent of its own. */
export function parentOf({ metadata }: KubeObject): string | undefined {
  return metadata.labels?.[virtualOfKey]
}

/** Selects all virtual clusters of one. */
export function childrenSelector(parent: string): string {
  return `${virtualOfKey}=${parent}`
}
