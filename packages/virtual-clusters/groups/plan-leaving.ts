import {
  goneSinceAnnotation,
  type VirtualCluster,
  type VirtualClusterSet,
} from '@skerry/fleet-kinds'

const graceSecondsDefault = 600

export interface LeavingPlan {
  /** VirtualClusters to annotate with the time from which they have had no group. */
  readonly update: readonly VirtualCluster[]
  readonly remove: readonly string[]
  readonly waiting: readonly string[]
  readonly problems: readonly string[]
  /** The time until the first of `waiting` is deleted, in milliseconds. */
  readonly nextMs?: number
}

/**
 * Decides which of a set's VirtualClusters without a group are deleted. Deleting one deletes everything that
 * was sent to it, volume claims included, so a node that is recreated, or whose label is missing for a while,
 * has the grace period to come back. An annotation records since when the group is gone, so the period
 * outlives the agent. `nowMs` is the time of day.
 */
export function planLeaving(
  { spec }: VirtualClusterSet,
  groupless: readonly VirtualCluster[],
  nowMs: number,
): LeavingPlan {
  const graceMs = (spec.gracePeriodSeconds ?? graceSecondsDefault) * 1000
  const all = groupless.map((each) => {
    const { name = '' } = each.metadata
    const noted = notedMs(each, nowMs)
    return { each, name, noted, endMs: (noted ?? nowMs) + graceMs }
  })
  const staying = all.filter(({ endMs }) => endMs > nowMs)
  return {
    update: staying.flatMap(({ each, noted }) =>
      noted === undefined ? [noting(each, nowMs)] : [],
    ),
    remove: all.flatMap(({ name, endMs }) => (endMs > nowMs ? [] : [name])),
    waiting: staying.map(({ name }) => name),
    problems: staying.map(
      ({ name, endMs }) =>
        `group "${name}" is gone: its virtual cluster goes at ${secondsOf(endMs)}, unless the group comes back`,
    ),
    ...(staying.length > 0
      ? { nextMs: Math.min(...staying.map(({ endMs }) => endMs)) - nowMs }
      : {}),
  }
}

export function isNotedGone({ metadata }: VirtualCluster): boolean {
  return metadata.annotations?.[goneSinceAnnotation] !== undefined
}

export function withoutGoneSince(each: VirtualCluster): VirtualCluster {
  const { [goneSinceAnnotation]: _since, ...annotations } = each.metadata.annotations ?? {}
  return { ...each, metadata: { ...each.metadata, annotations } }
}

/** Returns undefined if the time was not recorded, or lies in the future, as after a clock was set back. */
function notedMs({ metadata }: VirtualCluster, nowMs: number): number | undefined {
  const ms = Date.parse(metadata.annotations?.[goneSinceAnnotation] ?? '')
  return ms <= nowMs ? ms : undefined
}

function noting(each: VirtualCluster, nowMs: number): VirtualCluster {
  const annotations = { ...each.metadata.annotations, [goneSinceAnnotation]: secondsOf(nowMs) }
  return { ...each, metadata: { ...each.metadata, annotations } }
}

/** Formats a time as Kubernetes does, rounded down to seconds. */
function secondsOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}
