import { toleratesTaint, type Pod, type Taint } from '@skerry/api'
import { type ControllerContext } from '@skerry/controller-runtime'
import { controllerBounds } from '../limits-table.ts'
import { unreachableKey } from './node-health.ts'

/**
 * When each taint was added, in monotonic milliseconds: the time runs from when it was first seen
 * here, whatever the wall clock does meanwhile. The key is the taint's text.
 */
export type Sightings = ReadonlyMap<string, number>

/** Returns now, unless the taint's time is before this process started. A time in the future is ignored. */
export function addedMs(
  { timeAdded }: Taint,
  clock: Pick<ControllerContext['clock'], 'now' | 'monotonicMs'>,
): number {
  const agoMs = timeAdded === undefined ? 0 : clock.now() - Date.parse(timeAdded)
  return clock.monotonicMs() - Math.max(0, agoMs)
}

const { tolerationSecondsDefault } = controllerBounds.planEviction

interface EvictionTimes {
  readonly nowMs: number
  readonly sinceMs: (taint: Taint) => number
  /** Whether the node's neighbours agree that it is dead, so that nothing is gained by waiting. Default: no. */
  readonly isDead?: boolean
}

/**
 * Milliseconds until the pod must go, 0 for now; undefined when it may stay. Times are monotonic. On a dead node, a pod that
 * waits no longer than by default does not wait; one that asks for more keeps its time.
 */
export function planEviction(
  pod: Pod,
  taints: readonly Taint[],
  { nowMs, sinceMs, isDead = false }: EvictionTimes,
): number | undefined {
  let evictInMs: number | undefined
  for (const taint of taints) {
    const tolerating = (pod.spec?.tolerations ?? []).filter((each) => toleratesTaint(each, taint))
    if (tolerating.length === 0) return 0
    const seconds = tolerating.map((each) => each.tolerationSeconds ?? Infinity)
    const least = Math.max(0, Math.min(...seconds))
    if (least === Infinity) continue
    if (isDead && taint.key === unreachableKey && least <= tolerationSecondsDefault) return 0
    const leftMs = Math.max(0, sinceMs(taint) + least * 1_000 - nowMs)
    evictInMs = Math.min(evictInMs ?? Infinity, leftMs)
  }
  return evictInMs
}
