import type { AnyObject } from '@skerry/api'
import { conditionTypes, type Cluster, conditionOf } from '@skerry/fleet-kinds'

/**
 * Returns the time from which a Cluster reports that it has no open tunnel; undefined while it reports one,
 * or nothing.
 */
export function awaySinceMs(object: AnyObject | undefined): number | undefined {
  // The registry keeps only what was decoded as this kind.
  const { status } = (object ?? {}) as unknown as Partial<Cluster>
  const connected = conditionOf(status?.conditions, conditionTypes.connected)
  if (connected?.status !== 'False' || connected.reason === 'NeverConnected') return undefined
  const ms = Date.parse(connected.lastTransitionTime)
  return Number.isNaN(ms) ? undefined : ms
}
