import { isStatusError, type ConfigMap } from '@skerry/api'
import { ifThere, resources } from '@skerry/client'
import { clusterResource } from '@skerry/fleet-kinds'
import { StepError, type EdgeCluster } from '@skerry/provisioning'
import { tokensOf } from '../../admin/strike-off.ts'
import type { OpenHub } from '../contract/hub-part.ts'
import { claimKey, claimLabel, ownerOf } from './cluster-claim.ts'

type ClaimParts = Pick<OpenHub, 'cluster'>

/** Lets an EdgeCluster have a name on the hub that no other cluster has; it keeps the name until it is forgotten. */
export async function claim(
  clusterName: string,
  edge: EdgeCluster,
  { cluster }: ClaimParts,
  signal: AbortSignal,
): Promise<void> {
  const configMaps = cluster.resource(resources.configMaps)
  const key = claimKey(clusterName)
  const owner = ownerOf(edge)
  const known = await ifThere(configMaps.get(key, signal))
  if (known?.data?.['owner'] === owner) return
  const isThere = await ifThere(
    cluster.resource(clusterResource).get({ name: clusterName }, signal),
  )
  if (known !== undefined || isThere !== undefined) throw taken(clusterName, edge, known)
  if ((await tokensOf(cluster, clusterName, signal)).length > 0) throw promised(clusterName)
  try {
    const metadata = { ...key, labels: { [claimLabel]: '' } }
    const made = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { owner } }
    await configMaps.create(made, signal)
  } catch (error) {
    if (!isStatusError(error, 'AlreadyExists')) throw error
    throw taken(clusterName, edge, undefined)
  }
}

/** Somebody has a token with which an agent of this name may register at any moment: it would become the EdgeCluster's. */
function promised(clusterName: string): StepError {
  const text = `the name ${clusterName} is promised to a cluster whose token for the hub has not expired: choose another spec.clusterName, or let an administrator run "skerry cluster revoke ${clusterName}"`
  return new StepError(text, { isFinal: true })
}

/** Rejects unless the name is this EdgeCluster's. Rights are never given because an earlier step was done. */
export async function mustOwn(
  clusterName: string,
  edge: EdgeCluster,
  { cluster }: ClaimParts,
  signal: AbortSignal,
): Promise<void> {
  const configMaps = cluster.resource(resources.configMaps)
  const known = await ifThere(configMaps.get(claimKey(clusterName), signal))
  if (known?.data?.['owner'] !== ownerOf(edge)) throw taken(clusterName, edge, known)
}

/** Names another EdgeCluster only to those who can read it. */
function taken(
  clusterName: string,
  { metadata }: EdgeCluster,
  known: ConfigMap | undefined,
): StepError {
  const [namespace, name] = known?.data?.['owner']?.split('/') ?? []
  const isOwn = namespace === metadata.namespace
  const other = isOwn ? `EdgeCluster ${name}` : 'an EdgeCluster of another namespace'
  const who = name === undefined ? 'a cluster' : other
  const text = `the hub has ${who} with the name ${clusterName}: choose another spec.clusterName`
  return new StepError(text, { isFinal: true })
}
