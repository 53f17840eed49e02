import { isStatusError } from '@skerry/api'
import type { Cluster as Api } from '@skerry/client'
import { clusterResource, executionNamespace } from '../../cluster/cluster.ts'
import { workResource, type Work } from '../../work/work.ts'
import { deleteNamespaces } from './virtual-namespaces.ts'

export interface RetirementDeps {
  readonly hub: Api
  readonly local: Api
  /** Takes a Work's objects out of the edge cluster; false while one is still there. */
  readonly take: (work: Work, signal: AbortSignal) => Promise<boolean>
}

/**
 * Takes away everything of a virtual cluster whose tasks have ended: its Works' objects, its
 * namespaces, its Cluster on the hub. Resolves what it still waits for; undefined when nothing is
 * left. To be called again until then; rejects while the hub or the edge's API server is away.
 */
export async function retireVirtualCluster(
  clusterName: string,
  { hub, local, take }: RetirementDeps,
  signal: AbortSignal,
): Promise<string | undefined> {
  let isTaken = true
  for (const work of await worksOf(clusterName, hub, signal)) {
    isTaken = (await take(work, signal)) && isTaken
  }
  if (!isTaken) return 'objects of its Works'
  if (!(await deleteNamespaces(clusterName, { local }, signal))) return 'its namespaces'
  return (await deleteCluster(clusterName, hub, signal)) ? undefined : 'its Cluster on the hub'
}

async function worksOf(clusterName: string, hub: Api, signal: AbortSignal): Promise<Work[]> {
  try {
    const request = { namespace: executionNamespace(clusterName) }
    return [...(await hub.resource(workResource).list(request, signal)).items]
  } catch (error) {
    if (isUnknown(error)) return []
    throw error
  }
}

/** True when it is gone. */
async function deleteCluster(name: string, hub: Api, signal: AbortSignal): Promise<boolean> {
  const clusters = hub.resource(clusterResource)
  try {
    await clusters.delete({ name }, signal)
    await clusters.get({ name }, signal)
    return false
  } catch (error) {
    if (isUnknown(error)) return true
    throw error
  }
}

/** What the hub does not have, or has of somebody else's, is nothing of ours. */
function isUnknown(error: unknown): boolean {
  return isStatusError(error, 'NotFound') || isStatusError(error, 'Forbidden')
}
