import { isStatusError, type ConfigMap } from '@skerry/api'
import { ifThere, resources } from '@skerry/client'
import { clusterResource } from '@skerry/fleet-kinds'
import { StepError, type EdgeCluster } from '@skerry/provisioning'
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
  if (known !== undefined || isThere !== undefined) throw taken(clusterName, known)
  try {
    const metadata = { ...key, labels: { [claimLabel]: '' } }
    const made = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { owner } }
    await configMaps.create(made, signal)
  } catch (error) {
    if (!isStatusError(error, 'AlreadyExists')) throw error
    throw taken(clusterName, undefined)
  }
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
  if (known?.data?.['owner'] !== ownerOf(edge)) throw taken(clusterName, known)
}

function taken(clusterName: string, known: ConfigMap | undefined): StepError {
  const [namespace, name] = known?.data?.['owner']?.split('/') ?? []
  const who = name === undefined ? 'a cluster' : `EdgeCluster ${name} in namespace ${namespace}`
  const text = `the hub has ${who} with the name ${clusterName}: choose another spec.clusterName`
  return new StepError(text, { isFinal: true })
}
