import { isStatusError } from '@skerry/api'
import type { Clock } from '@skerry/base'
import type { Cluster as Api } from '@skerry/client'
import { clusterResource, conditionTypes, withCondition } from '@skerry/fleet-kinds'

/**
 * Says of a cluster that leaves that it is not ready: a control plane that believes it ready waits for its
 * agent to let go of each Work. False: others have written it meanwhile, say it again.
 */
export async function sayNotReady(
  name: string,
  { hub, clock }: { readonly hub: Api; readonly clock: Pick<Clock, 'now'> },
  signal: AbortSignal,
): Promise<boolean> {
  const clusters = hub.resource(clusterResource)
  const left = {
    type: conditionTypes.ready,
    status: 'False',
    reason: 'AgentLeft',
    message: 'the cluster leaves the fleet',
  } as const
  try {
    const cluster = await clusters.get({ name }, signal)
    const conditions = withCondition(cluster.status?.conditions ?? [], left, clock.now())
    await clusters.updateStatus({ ...cluster, status: { ...cluster.status, conditions } }, signal)
    return true
  } catch (error) {
    // A hub refuses what it did not expect, as when others write it just now; it waits for nobody.
    if (isStatusError(error, 'NotFound') || isStatusError(error, 'Forbidden')) return true
    if (isStatusError(error, 'Conflict')) return false
    throw error
  }
}
