import { isStatusError } from '@skerry/api'
import type { Clock } from '@skerry/base'
import type { ClusterClient } from '@skerry/client'
import { sayNotReady } from '@skerry/cluster-agent'
import { clusterResource, executionNamespace } from '@skerry/fleet-kinds'
import { workResource, type Work } from '@skerry/karmada-kinds'
import { releaseObjects } from './release-objects.ts'
import { deleteNamespaces } from './virtual-namespaces.ts'

export interface RetirementDeps {
  readonly hub: ClusterClient
  readonly local: ClusterClient
  readonly clock: Pick<Clock, 'now'>
  /** Takes a Work's objects out of the edge cluster; false while one is still there. */
  readonly take: (work: Work, signal: AbortSignal) => Promise<boolean>
  /** Called if the hub keeps the Cluster, because it does not allow this agent to delete it. */
  readonly onKept: () => void
}

/**
 * Removes everything of a virtual cluster whose tasks have ended: its Works' objects and whatever else of it
 * is in the edge cluster, its namespaces, and its Cluster on the hub. Resolves with what it still waits for,
 * or undefined when nothing is left; call it again until then. Rejects while the hub or the edge's API server
 * is unreachable.
 */
export async function retireVirtualCluster(
  clusterName: string,
  { hub, local, clock, take, onKept }: RetirementDeps,
  signal: AbortSignal,
): Promise<string | undefined> {
  let isTaken = true
  for (const work of await worksOf(clusterName, hub, signal)) {
    isTaken = (await take(work, signal)) && isTaken
  }
  if (!isTaken) return 'objects of its Works'
  if (!(await releaseObjects(clusterName, local, signal))) return 'its objects without a namespace'
  if (!(await deleteNamespaces(clusterName, { local }, signal))) return 'its namespaces'
  const isGone = await deleteCluster(clusterName, { hub, clock, onKept }, signal)
  return isGone ? undefined : 'its Cluster on the hub'
}

/**
 * Returns none if the hub no longer shows the Works to this agent: their objects are then found in the edge
 * cluster.
 */
async function worksOf(
  clusterName: string,
  hub: ClusterClient,
  signal: AbortSignal,
): Promise<Work[]> {
  try {
    const request = { namespace: executionNamespace(clusterName) }
    return [...(await hub.resource(workResource).list(request, signal)).items]
  } catch (error) {
    if (isStatusError(error, 'NotFound') || isStatusError(error, 'Forbidden')) return []
    throw error
  }
}

/** True when it is gone, or is the hub's to keep. */
async function deleteCluster(
  name: string,
  { hub, clock, onKept }: Pick<RetirementDeps, 'hub' | 'clock' | 'onKept'>,
  signal: AbortSignal,
): Promise<boolean> {
  const clusters = hub.resource(clusterResource)
  try {
    const { metadata } = await clusters.get({ name }, signal)
    if (metadata.deletionTimestamp) return false
    if (!(await sayNotReady(name, { hub, clock }, signal))) return false
    await clusters.delete({ name }, signal)
    await clusters.get({ name }, signal)
    return false
  } catch (error) {
    if (isStatusError(error, 'Forbidden')) onKept()
    else if (!isStatusError(error, 'NotFound')) throw error
    return true
  }
}
