import type { ConfigMap } from '@skerry/api'
import type { EdgeCluster } from '@skerry/provisioning'

/** The namespace of the claims that say to which EdgeCluster a name belongs; nobody but the hub writes there. */
export const claimNamespace = 'kube-system'

/** Each claim has this label. */
export const claimLabel = 'hub.skerry.io/edge-cluster-claim'

const prefix = 'edge-cluster-'

export interface ClusterClaim {
  readonly clusterName: string
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

export function claimKey(clusterName: string): { namespace: string; name: string } {
  return { namespace: claimNamespace, name: `${prefix}${clusterName}` }
}

export function ownerOf({ metadata }: EdgeCluster): string {
  return `${metadata.namespace}/${metadata.name}/${metadata.uid}`
}

/** Returns the name that is claimed, and the EdgeCluster that has it; undefined if it is not a claim. */
export function claimOf({ metadata, data }: ConfigMap): ClusterClaim | undefined {
  const [namespace, name, uid] = data?.['owner']?.split('/') ?? []
  if (namespace === undefined || name === undefined || uid === undefined) return undefined
  const clusterName = metadata.name?.startsWith(prefix) ? metadata.name.slice(prefix.length) : ''
  return clusterName === '' ? undefined : { clusterName, namespace, name, uid }
}
