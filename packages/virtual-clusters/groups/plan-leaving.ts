import {
  goneSinceAnnotation,
  type VirtualCluster,
  type VirtualClusterSet,
} from '@skerry/fleet-kinds'

const graceSecondsDefault = 600

export interface LeavingPlan {
  /** Those of which it is noted from now on since when they have no group. */
  readonly update: readonly VirtualCluster[]
  readonly remove: readonly string[]
  readonly waiting: readonly string[]
  readonly problems: readonly string[]
  /** In so many milliseconds the first of `waiting` goes. */
  readonly nextMs?: number
}

/**
 * Decides which of a set's VirtualClusters without a group go. With one goes whatever was sent to it, its
 * volume claims too, so a node that is made anew, or a label that is missing for a while, has time to come
 * back. Since when it has no group stands on it, and outlives the agent. `nowMs` is the time of day.
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

/** Undefined: it was not noted, or not in the past, as after a clock was put back. */
function notedMs({ metadata }: VirtualCluster, nowMs: number): number | undefined {
  const ms = Date.parse(metadata.annotations?.[goneSinceAnnotation] ?? '')
  return ms <= nowMs ? ms : undefined
}

function noting(each: VirtualCluster, nowMs: number): VirtualCluster {
  const annotations = { ...each.metadata.annotations, [goneSinceAnnotation]: secondsOf(nowMs) }
  return { ...each, metadata: { ...each.metadata, annotations } }
}

/** Kubernetes' form of a time, rounded down. */
function secondsOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}
