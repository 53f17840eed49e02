import { StatusError } from '@skerry/api'
import { ifThere, resources, type ClusterClient } from '@skerry/client'
import { clusterResource } from '@skerry/fleet-kinds'
import { claimKey, claimOf } from '../provisioning/cluster-claim.ts'

/**
 * Rejects with Conflict if an EdgeCluster has claimed a name under which no cluster is on the hub yet: whatever registered
 * under it would be that object's, to dial through and to remove. A cluster that is there may get a further token.
 */
export async function refuseClaimedName(
  hub: ClusterClient,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  const known = await ifThere(hub.resource(resources.configMaps).get(claimKey(name), signal))
  const claim = known && claimOf(known)
  if (claim === undefined) return
  if ((await ifThere(hub.resource(clusterResource).get({ name }, signal))) !== undefined) return
  const who = `EdgeCluster ${claim.namespace}/${claim.name}`
  throw new StatusError(
    'Conflict',
    `Cannot register cluster "${name}": ${who} has claimed the name and makes or imports this cluster; choose another name, or delete the EdgeCluster`,
  )
}
