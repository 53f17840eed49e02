import type { KubeObject } from '@skerry/api'

/**
 * The label of a virtual cluster's Cluster that names the cluster whose agent answers for it. Only the hub
 * writes it, when that agent registers the virtual cluster.
 */
export const virtualOfKey = 'hub.skerry.io/virtual-of'

/** The annotation of a virtual cluster's Cluster with its newest certificate's expiry; RFC 3339. */
export const certificateExpiresKey = 'hub.skerry.io/certificate-expires'

/** Returns the cluster whose agent answers for this Cluster; undefined for a cluster with its own agent. */
export function parentOf({ metadata }: KubeObject): string | undefined {
  return metadata.labels?.[virtualOfKey]
}

/** Selects all virtual clusters of one parent. */
export function childrenSelector(parent: string): string {
  return `${virtualOfKey}=${parent}`
}
