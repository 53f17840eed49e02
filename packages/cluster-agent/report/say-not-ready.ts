import { isStatusError } from '@skerry/api'
import type { Clock } from '@skerry/base'
import type { ClusterClient } from '@skerry/client'
import { clusterResource, conditionTypes, withCondition } from '@skerry/fleet-kinds'

/**
 * Sets a leaving cluster's condition to not ready: a control plane that believes it ready waits for its agent
 * to release each Work. Resolves false if it was written meanwhile: call it again.
 */
export async function sayNotReady(
  name: string,
  { hub, clock }: { readonly hub: ClusterClient; readonly clock: Pick<Clock, 'now'> },
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
    // A hub refuses unexpected writes, for example if others write at the same time; it waits for nobody.
    if (isStatusError(error, 'NotFound') || isStatusError(error, 'Forbidden')) return true
    if (isStatusError(error, 'Conflict')) return false
    throw error
  }
}
