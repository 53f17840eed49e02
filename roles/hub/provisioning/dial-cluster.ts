import type { Duplex } from 'node:stream'
import { isStatusError } from '@skerry/api'
import { messageOf } from '@skerry/base'
import { ifThere, resources } from '@skerry/client'
import { clusterResource } from '@skerry/fleet-kinds'
import { connectAddress } from '@skerry/gateway'
import { ShellError, type ClusterDial, type EdgeCluster } from '@skerry/provisioning'
import type { OpenHub } from '../contract/hub-part.ts'
import { claimKey, ownerOf } from './cluster-claim.ts'

/** The annotation of a Cluster with the namespaces, separated by commas, whose EdgeClusters may dial through it. */
const dialNamespaces = 'hub.skerry.io/dial-namespaces'

/**
 * Dials an address through the agent of a cluster. An EdgeCluster may use the clusters of its own namespace, and others
 * whose administrator names the namespace: who may write EdgeClusters must not reach into every cluster of the hub.
 */
export async function dialCluster(
  { clusterName: cluster, address, port }: ClusterDial,
  edge: EdgeCluster,
  hub: Pick<OpenHub, 'cluster' | 'way'>,
  signal: AbortSignal,
): Promise<Duplex> {
  await mayDial(cluster, edge, hub, signal)
  try {
    return await connectAddress(hub.way, { cluster, address, port }, signal)
  } catch (error) {
    signal.throwIfAborted()
    // A person must change the agent's options before another attempt helps.
    const fault = isStatusError(error, 'Forbidden') ? 'refused' : 'unreachable'
    throw new ShellError(fault, messageOf(error), { cause: error })
  }
}

async function mayDial(
  clusterName: string,
  edge: EdgeCluster,
  { cluster }: Pick<OpenHub, 'cluster'>,
  signal: AbortSignal,
): Promise<void> {
  const { namespace = '' } = edge.metadata
  const configMaps = cluster.resource(resources.configMaps)
  const owner = (await ifThere(configMaps.get(claimKey(clusterName), signal)))?.data?.['owner']
  if (owner === ownerOf(edge) || owner?.split('/')[0] === namespace) return
  const found = await ifThere(cluster.resource(clusterResource).get({ name: clusterName }, signal))
  const named = found?.metadata.annotations?.[dialNamespaces]?.split(',') ?? []
  if (named.some((each) => each.trim() === namespace)) return
  const text = `Cannot dial through cluster "${clusterName}": it does not belong to an EdgeCluster of namespace ${namespace}, and its annotation ${dialNamespaces} does not name that namespace`
  throw new ShellError('refused', text)
}
