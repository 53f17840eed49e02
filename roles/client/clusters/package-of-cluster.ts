import { isStatusError } from '@skerry/api'
import type { ClusterClient } from '@skerry/client'
import { clusterNameOfEdge, edgeClusterResource, packageInForce } from '@skerry/provisioning'
import type { LinePackage } from '../../program/package-key.ts'

/**
 * Resolves with the offline package of the EdgeCluster that has this name on the hub; undefined if there is none, or if
 * the user may not see it.
 */
export async function packageOfCluster(
  hub: ClusterClient,
  clusterName: string,
  signal: AbortSignal,
): Promise<LinePackage | undefined> {
  try {
    const { items } = await hub.resource(edgeClusterResource).list({}, signal)
    const edge = items.find((each) => clusterNameOfEdge(each) === clusterName)
    return edge && packageInForce(edge)
  } catch (error) {
    // A hub of an earlier version does not know the kind.
    if (isStatusError(error, 'Forbidden') || isStatusError(error, 'NotFound')) return undefined
    throw error
  }
}
