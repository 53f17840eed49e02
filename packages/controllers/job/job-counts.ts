import type { Job, Pod } from '@skerry/api'
import { isPodActive, isPodTerminating } from '../pods/pod-state.ts'
import { IndexSet } from './index-intervals.ts'
import {
  completionIndex,
  finishedMs,
  hasFailed,
  hasSucceeded,
  indexFailures,
  isCountable,
  isTracked,
} from './job-pods.ts'
import { completionsOf, isIndexed } from './job-spec.ts'
import { judgeFailure } from './pod-failure-policy.ts'

/** Counts from the status and the pods together. Nothing is counted twice. */
export interface JobCounts {
  readonly active: readonly Pod[]
  readonly terminating: readonly Pod[]
  /** Pods that have ended but are not counted yet. */
  readonly newSucceeded: readonly Pod[]
  readonly newFailed: readonly Pod[]
  /** The totals, including pods that are not counted yet. */
  readonly succeeded: number
  readonly failed: number
  readonly succeededIndexes: IndexSet
  /** Undefined without a limit per index. */
  readonly failedIndexes: IndexSet | undefined
  /** The uids in the status whose pods still have the finalizer. */
  readonly uncounted: { readonly succeeded: readonly string[]; readonly failed: readonly string[] }
  /**
   * The number of uids in the status whose pods have lost the finalizer or are gone; they are
   * counted now.
   */
  readonly settled: { readonly succeeded: number; readonly failed: number }
}

export function countPods(job: Job, pods: readonly Pod[]): JobCounts {
  const status = job.status ?? {}
  const uncounted = status.uncountedTerminatedPods ?? {}
  const succeededUids = uncounted.succeeded ?? []
  const failedUids = uncounted.failed ?? []
  const tracked = new Set(pods.filter(isTracked).map(({ metadata }) => metadata.uid ?? ''))
  const countable = pods.filter((pod) => isCountable(job, pod))
  const newSucceeded = countable.filter(
    (pod) => hasSucceeded(pod) && !succeededUids.includes(pod.metadata.uid ?? ''),
  )
  const newFailed = countable.filter(
    (pod) => hasFailed(job, pod) && !failedUids.includes(pod.metadata.uid ?? ''),
  )
  const counted = newFailed.filter((pod) => judgeFailure(job, pod).action !== 'Ignore')
  const succeededIndexes = succeededIndexesOf(job, pods)
  const stillTracked = (uids: readonly string[]): string[] => uids.filter((uid) => tracked.has(uid))
  const left = { succeeded: stillTracked(succeededUids), failed: stillTracked(failedUids) }
  return {
    active: pods.filter(isPodActive),
    terminating: pods.filter(isPodTerminating),
    newSucceeded,
    newFailed,
    succeeded: isIndexed(job)
      ? succeededIndexes.size
      : (status.succeeded ?? 0) + succeededUids.length + newSucceeded.length,
    failed: (status.failed ?? 0) + failedUids.length + counted.length,
    succeededIndexes,
    failedIndexes: failedIndexesOf(job, pods),
    uncounted: left,
    settled: {
      succeeded: succeededUids.length - left.succeeded.length,
      failed: failedUids.length - left.failed.length,
    },
  }
}

function succeededIndexesOf(job: Job, pods: readonly Pod[]): IndexSet {
  if (!isIndexed(job)) return IndexSet.empty
  const known = IndexSet.parse(job.status?.completedIndexes, completionsOf(job) ?? 0)
  return known.union(
    indexesOf(
      job,
      pods.filter((pod) => hasSucceeded(pod) && isTracked(pod)),
    ),
  )
}

function failedIndexesOf(job: Job, pods: readonly Pod[]): IndexSet | undefined {
  const { backoffLimitPerIndex } = job.spec ?? {}
  if (!isIndexed(job) || backoffLimitPerIndex === undefined) return undefined
  const known = IndexSet.parse(job.status?.failedIndexes, completionsOf(job) ?? 0)
  const failed = pods.filter((pod) => {
    if (!isTracked(pod) || !hasFailed(job, pod)) return false
    const { action } = judgeFailure(job, pod)
    if (action === 'FailIndex') return true
    return action !== 'Ignore' && indexFailures(pod).counted >= backoffLimitPerIndex
  })
  return known.union(indexesOf(job, failed))
}

export function indexesOf(job: Job, pods: readonly Pod[]): IndexSet {
  return IndexSet.of(pods.flatMap((pod) => completionIndex(job, pod) ?? []))
}

/**
 * With a limit per index, returns for each index that waits for its next pod the pod that failed
 * last. That pod keeps its finalizer until then, because it records the index's failures.
 */
export function awaitingReplacement(
  job: Job,
  pods: readonly Pod[],
  counts: JobCounts,
): Map<number, Pod> {
  const found = new Map<number, Pod>()
  if (counts.failedIndexes === undefined) return found
  const active = indexesOf(job, counts.active)
  for (const pod of pods) {
    const index = completionIndex(job, pod)
    if (index === undefined || !isCountable(job, pod) || !hasFailed(job, pod)) continue
    const isDone = counts.succeededIndexes.has(index) || counts.failedIndexes.has(index)
    if (isDone || active.has(index)) continue
    const known = found.get(index)
    if (!known || isLater(pod, known)) found.set(index, pod)
  }
  return found
}

function isLater(pod: Pod, than: Pod): boolean {
  return totalFailures(pod) >= totalFailures(than) && finishedMs(pod) >= finishedMs(than)
}

export function totalFailures(pod: Pod): number {
  const { counted, ignored } = indexFailures(pod)
  return counted + ignored
}
