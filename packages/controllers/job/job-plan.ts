import type { Job, JobStatus, Pod } from '@skerry/api'
import { isPodReady } from '../pods/pod-state.ts'
import { timestamp } from '../status/timestamp.ts'
import { announceOutcome, finish, suspendCondition, type SuspendChange } from './job-conditions.ts'
import { awaitingReplacement, countPods, type JobCounts } from './job-counts.ts'
import { completion, deadlineInMs, outcomeOf, type JobOutcome } from './job-outcome.ts'
import { completionIndex, hasFailed, hasSucceeded, isTracked } from './job-pods.ts'
import { planPods, type PodPlan } from './job-replacement.ts'
import { isIndexed, isSuspended } from './job-spec.ts'
import { judgeFailure } from './pod-failure-policy.ts'
import { jobLimits } from '../limits-table.ts'

export interface JobView {
  job: Job
  /** The pods that it controls. */
  pods: readonly Pod[]
  nowMs: number
}

/**
 * The steps, in this order: create, remove and end pods; write the status; release the pods counted
 * in it.
 */
export interface JobPlan {
  readonly create: PodPlan['create']
  /** Surplus pods. They lose their finalizer first, so that they never count. */
  readonly remove: readonly Pod[]
  /** The pods of a job that ends. */
  readonly end: readonly Pod[]
  readonly status: JobStatus
  readonly release: readonly Pod[]
  readonly suspendChange: SuspendChange
  /** Set if the status says that the job has finished. */
  readonly finished: JobOutcome | undefined
  readonly requeueAfterMs: number | undefined
}

const noPods: PodPlan = Object.freeze({ create: [], remove: [], requeueAfterMs: undefined })

/** Plans the next steps. A pure function. */
export function planJob(view: JobView): JobPlan {
  const { job, pods, nowMs } = view
  const counts = countPods(job, pods)
  const early = outcomeOf({ job, pods, counts, nowMs })
  const isManaged = !early && job.metadata.deletionTimestamp === undefined
  const podPlan = isManaged ? planPods({ job, pods, counts, nowMs }) : noPods
  const activeAfter = counts.active.length + podPlan.create.length - podPlan.remove.length
  const outcome = early ?? completion(job, counts, activeAfter)
  const end = early ? counts.active : []
  const suspend = isManaged && !outcome ? suspendCondition(job, nowMs) : undefined
  const accounts = accountPods(view, { counts, outcome })
  const status = nextStatus(view, { counts, outcome, accounts, suspend, end })
  const isFinished = status.conditions?.some(
    ({ type, status: value }) => (type === 'Complete' || type === 'Failed') && value === 'True',
  )
  return {
    create: podPlan.create,
    remove: podPlan.remove,
    end,
    status,
    release: accounts.release,
    suspendChange: suspend?.change,
    finished: isFinished ? outcome : undefined,
    requeueAfterMs: outcome ? undefined : soonest(podPlan.requeueAfterMs, deadlineInMs(job, nowMs)),
  }
}

function soonest(...timesMs: (number | undefined)[]): number | undefined {
  const known = timesMs.filter((ms) => ms !== undefined)
  return known.length === 0 ? undefined : Math.max(0, Math.min(...known))
}

interface Accounts {
  readonly succeeded: readonly string[]
  readonly failed: readonly string[]
  readonly release: readonly Pod[]
  /** False if not all pods fit; the rest is counted in the next look. */
  readonly isWhole: boolean
}

interface Judged {
  counts: JobCounts
  outcome: JobOutcome | undefined
}

/** Decides which ended pods to add to the status now, and which may then lose their finalizer. */
function accountPods({ job, pods }: JobView, { counts, outcome }: Judged): Accounts {
  const succeeded = [...counts.uncounted.succeeded]
  const failed = [...counts.uncounted.failed]
  const waiting = new Set(awaitingReplacement(job, pods, counts).values())
  const release: Pod[] = []
  for (const pod of pods.filter(isTracked)) {
    if (succeeded.length + failed.length >= jobLimits.uncountedMax) break
    const { uid = '' } = pod.metadata
    const isGoing = job.metadata.deletionTimestamp !== undefined || outcome !== undefined
    const isEnded = hasSucceeded(pod) || (hasFailed(job, pod) && !waiting.has(pod))
    if (!isGoing && !isEnded) continue
    release.push(pod)
    if (failed.includes(uid) || succeeded.includes(uid)) continue
    if (hasSucceeded(pod)) {
      if (!isIndexed(job)) succeeded.push(uid)
    } else if (countsAsFailed(job, pod, outcome)) failed.push(uid)
  }
  const isWhole = release.length === pods.filter(isTracked).length || outcome === undefined
  return { succeeded, failed, release, isWhole }
}

/** If a job fails, its running pods have failed, too. */
function countsAsFailed(job: Job, pod: Pod, outcome: JobOutcome | undefined): boolean {
  if (isIndexed(job) && completionIndex(job, pod) === undefined) return false
  if (!hasFailed(job, pod) && outcome?.result !== 'failure') return false
  return judgeFailure(job, pod).action !== 'Ignore'
}

interface Decided extends Judged {
  accounts: Accounts
  suspend: ReturnType<typeof suspendCondition> | undefined
  end: readonly Pod[]
}

function nextStatus(view: JobView, decided: Decided): JobStatus {
  const { job, nowMs } = view
  const { counts, outcome, accounts, suspend, end } = decided
  const before = job.status ?? {}
  const ending = new Set(end)
  const active = counts.active.filter((pod) => !ending.has(pod))
  const terminating = counts.terminating.length + end.length
  const known = suspend?.conditions ?? before.conditions ?? []
  const announced = outcome ? announceOutcome(known, outcome, nowMs) : known
  const isClear =
    accounts.isWhole &&
    accounts.release.length + accounts.succeeded.length + accounts.failed.length + terminating === 0
  const conditions = outcome && isClear ? finish(announced, outcome, nowMs) : announced
  const isComplete = conditions !== announced && outcome?.result === 'success'
  return {
    ...before,
    ...startTime(view, suspend?.change),
    active: active.length,
    ready: active.filter(isPodReady).length,
    terminating,
    succeeded: isIndexed(job)
      ? counts.succeededIndexes.size
      : (before.succeeded ?? 0) + counts.settled.succeeded,
    failed: (before.failed ?? 0) + counts.settled.failed,
    ...(isIndexed(job) ? { completedIndexes: counts.succeededIndexes.toString() } : {}),
    ...(counts.failedIndexes ? { failedIndexes: counts.failedIndexes.toString() } : {}),
    uncountedTerminatedPods: {
      ...(accounts.succeeded.length > 0 ? { succeeded: [...accounts.succeeded] } : {}),
      ...(accounts.failed.length > 0 ? { failed: [...accounts.failed] } : {}),
    },
    ...(conditions.length > 0 ? { conditions: [...conditions] } : {}),
    ...(isComplete ? { completionTime: timestamp(nowMs) } : {}),
  }
}

/** A job starts when it is first seen unsuspended, and again when it is resumed. */
function startTime({ job, nowMs }: JobView, change: SuspendChange): { startTime?: string } {
  if (isSuspended(job)) return {}
  const isStarting = !job.status?.startTime || change === 'Resumed'
  return isStarting ? { startTime: timestamp(nowMs) } : {}
}
