import type { EdgeJob, EdgeJobCluster, EdgeJobPhase } from '../kind/edge-job.ts'
import { pausedBy } from '../kind/pause.ts'

const ended: ReadonlySet<EdgeJobPhase> = new Set(['Completed', 'Failed', 'Cancelled'])

/** Reports whether nothing of a cluster's part of a job is left to do. */
export function isEnded({ spec, status }: EdgeJobCluster): boolean {
  if ((spec.retries ?? 0) !== (status?.observedRetries ?? 0)) return false
  return status?.phase !== undefined && ended.has(status.phase) && !isOwed({ status })
}

/** A machine that failed and was away is put right when it is back, although the job is over. */
function isOwed({ status }: Pick<EdgeJobCluster, 'status'>): boolean {
  const steps = status?.steps ?? []
  return steps.some(({ state, nextTime }) => state === 'Waiting' && nextTime !== undefined)
}

/**
 * Returns the job that changes this cluster first, of all that want to: one that has begun, or else the oldest. Jobs
 * that have ended, and paused ones that have not begun there, let others go first.
 */
export function firstJobOn(
  wanting: readonly EdgeJobCluster[],
  jobOf: (own: EdgeJobCluster) => EdgeJob | undefined,
): EdgeJobCluster | undefined {
  const waiting = wanting.filter((own) => {
    const job = jobOf(own)
    if (job === undefined || isEnded(own) || own.spec.cancelled === true) return false
    if (hasBegun(own)) return true
    return pausedBy(job) === undefined && !ended.has(job.status?.phase ?? 'Pending')
  })
  return waiting.toSorted(compare)[0]
}

function hasBegun({ status }: EdgeJobCluster): boolean {
  if (status?.phase === 'Failed' && isOwed({ status })) return true
  return (status?.machines ?? []).some(({ phase }) =>
    ['Checking', 'Running', 'WaitingForConfirmation'].includes(phase),
  )
}

function compare(a: EdgeJobCluster, b: EdgeJobCluster): number {
  const begun = Number(hasBegun(b)) - Number(hasBegun(a))
  if (begun !== 0) return begun
  const key = ({ metadata }: EdgeJobCluster): string =>
    `${metadata.creationTimestamp ?? ''} ${metadata.name ?? ''}`
  return key(a) < key(b) ? -1 : 1
}

/** Returns which of a job's clusters may be worked on now: those that are, and then those that wait, by name. */
export function turnsOf(
  clusters: readonly EdgeJobCluster[],
  {
    clustersAtOnce,
    isBusy,
  }: { readonly clustersAtOnce: number; readonly isBusy: (own: EdgeJobCluster) => boolean },
): EdgeJobCluster[] {
  const isActive = (own: EdgeJobCluster): boolean => isBusy(own) || own.status?.phase === 'Running'
  const active = clusters.filter(isActive)
  const free = Math.max(0, clustersAtOnce - active.length)
  // Absent machines and people are looked for without a place; a place is for machines that answer.
  const isResting = ({ status }: EdgeJobCluster): boolean =>
    (status?.steps ?? []).some(({ reason }) => reason !== undefined)
  const waiting = clusters.filter((own) => !isActive(own) && !isEnded(own))
  const resting = waiting.filter(isResting)
  const next = waiting.filter((own) => !isResting(own))
  return [...active, ...resting, ...next.slice(0, free)]
}
