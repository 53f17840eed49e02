import type { Job, Pod } from '@skerry/api'
import { inDeletionOrder } from '../pods/deletion-order.ts'
import { awaitingReplacement, indexesOf, totalFailures, type JobCounts } from './job-counts.ts'
import {
  completionIndex,
  finishedMs,
  hasFailed,
  hasSucceeded,
  indexFailures,
  type IndexFailures,
} from './job-pods.ts'
import { completionsOf, isIndexed, isSuspended, onlyReplacesFailed } from './job-spec.ts'
import { judgeFailure } from './pod-failure-policy.ts'
import { jobLimits } from '../limits-table.ts'

export interface WantedPod {
  readonly index: number | undefined
  readonly failures: IndexFailures | undefined
}

export interface PodPlan {
  readonly create: readonly WantedPod[]
  /** Active pods beyond the wanted number. They do not count as failures. */
  readonly remove: readonly Pod[]
  /** The time until a back-off ends. */
  readonly requeueAfterMs: number | undefined
}

export interface PodPlanInput {
  job: Job
  pods: readonly Pod[]
  counts: JobCounts
  nowMs: number
}

/** Plans as many active pods as parallelism and the remaining work allow. */
export function planPods(input: PodPlanInput): PodPlan {
  const { job, counts, nowMs } = input
  const wanted = wantedActive(job, counts)
  const surplus = Math.max(0, counts.active.length - wanted)
  const remove = surplusPods(job, counts.active, { surplus, nowMs }).slice(0, jobLimits.podsMax)
  if (remove.length > 0 || isSuspended(job))
    return { create: [], remove, requeueAfterMs: undefined }
  const leaving = onlyReplacesFailed(job) ? counts.terminating.length : 0
  const missing = Math.min(wanted - leaving - counts.active.length, jobLimits.podsMax)
  if (missing <= 0) return { create: [], remove: [], requeueAfterMs: undefined }
  return isIndexed(job) ? planIndexes(input, missing) : planPlain(input, missing)
}

function wantedActive(job: Job, counts: JobCounts): number {
  if (isSuspended(job)) return 0
  const parallelism = job.spec?.parallelism ?? 1
  const completions = completionsOf(job)
  if (completions === undefined) {
    return counts.succeeded > 0 ? counts.active.length : parallelism
  }
  return Math.max(0, Math.min(parallelism, completions - counts.succeeded))
}

function surplusPods(
  job: Job,
  active: readonly Pod[],
  { surplus, nowMs }: { surplus: number; nowMs: number },
): readonly Pod[] {
  const doubled = isIndexed(job) ? doubledPods(job, active, nowMs) : []
  if (doubled.length >= surplus) return doubled
  const others = active.filter((pod) => !doubled.includes(pod))
  const more = inDeletionOrder(others, [], nowMs).slice(0, surplus - doubled.length)
  return [...doubled, ...more]
}

/** Returns all except the best pod of each index, and those whose index the job does not have. */
function doubledPods(job: Job, active: readonly Pod[], nowMs: number): Pod[] {
  const byIndex = Map.groupBy(active, (pod) => completionIndex(job, pod))
  return [...byIndex].flatMap(([index, pods]) =>
    index === undefined ? pods : inDeletionOrder(pods, [], nowMs).slice(0, -1),
  )
}

function planPlain({ pods, job, nowMs }: PodPlanInput, missing: number): PodPlan {
  const waitMs = jobBackoffMs(job, pods, nowMs)
  if (waitMs > 0) return { create: [], remove: [], requeueAfterMs: waitMs }
  const create = Array.from({ length: missing }, () => ({ index: undefined, failures: undefined }))
  return { create, remove: [], requeueAfterMs: undefined }
}

function planIndexes(input: PodPlanInput, missing: number): PodPlan {
  const { job, pods, counts, nowMs } = input
  const completions = completionsOf(job) ?? 0
  let taken = counts.succeededIndexes.union(indexesOf(job, counts.active))
  if (onlyReplacesFailed(job)) taken = taken.union(indexesOf(job, counts.terminating))
  if (counts.failedIndexes === undefined) {
    const waitMs = jobBackoffMs(job, pods, nowMs)
    if (waitMs > 0) return { create: [], remove: [], requeueAfterMs: waitMs }
    const indexes = taken.missing(missing, completions)
    const create = indexes.map((index) => ({ index, failures: undefined }))
    return { create, remove: [], requeueAfterMs: undefined }
  }
  const candidates = taken.union(counts.failedIndexes).missing(missing, completions)
  return planPerIndex(input, candidates)
}

/** Plans with a separate back-off for each index. */
function planPerIndex({ job, pods, counts, nowMs }: PodPlanInput, indexes: number[]): PodPlan {
  const failed = awaitingReplacement(job, pods, counts)
  const create: WantedPod[] = []
  let nextMs: number | undefined
  for (const index of indexes) {
    const before = failed.get(index)
    const waitMs = before ? remainingMs(totalFailures(before) + 1, finishedMs(before), nowMs) : 0
    if (waitMs > 0) nextMs = Math.min(nextMs ?? waitMs, waitMs)
    else create.push({ index, failures: failuresAfter(job, before) })
  }
  return { create, remove: [], requeueAfterMs: nextMs }
}

function failuresAfter(job: Job, before: Pod | undefined): IndexFailures {
  if (!before) return { counted: 0, ignored: 0 }
  const { counted, ignored } = indexFailures(before)
  return judgeFailure(job, before).action === 'Ignore'
    ? { counted, ignored: ignored + 1 }
    : { counted: counted + 1, ignored }
}

/**
 * Failures since the last success delay the next pod. The finished pods themselves are the record
 * of them.
 */
function jobBackoffMs(job: Job, pods: readonly Pod[], nowMs: number): number {
  const lastSuccessMs = Math.max(-Infinity, ...pods.filter(hasSucceeded).map(finishedMs))
  const failures = pods
    .filter((pod) => hasFailed(job, pod))
    .map(finishedMs)
    .filter((ms) => ms > lastSuccessMs)
  return remainingMs(failures.length, Math.max(-Infinity, ...failures), nowMs)
}

function remainingMs(failures: number, lastFailureMs: number, nowMs: number): number {
  if (failures === 0) return 0
  const waitMs = Math.min(jobLimits.backoffMaxMs, jobLimits.backoffMs * 2 ** (failures - 1))
  return Math.max(0, lastFailureMs + waitMs - nowMs)
}
