import type { Job, Pod } from '@skerry/api'
import { IndexSet } from './index-intervals.ts'
import type { JobCounts } from './job-counts.ts'
import { hasFailed } from './job-pods.ts'
import { completionsOf, conditionOf, isIndexed, isSuspended } from './job-spec.ts'
import { judgeFailure } from './pod-failure-policy.ts'

/** The job's outcome. Pods are deleted first, then the final condition is written. */
export interface JobOutcome {
  readonly result: 'success' | 'failure'
  readonly reason: string
  readonly message: string
}

export interface OutcomeInput {
  job: Job
  pods: readonly Pod[]
  counts: JobCounts
  nowMs: number
}

type Rule = (input: OutcomeInput) => JobOutcome | undefined

/** The first check with a result decides. An outcome that was written once never changes. */
const rules: readonly Rule[] = Object.freeze<Rule[]>([
  ({ job }) => decided(job, 'SuccessCriteriaMet', 'success'),
  ({ job }) => decided(job, 'FailureTarget', 'failure'),
  failedByPolicy,
  exceededBackoffLimit,
  pastDeadline,
  exceededFailedIndexes,
  metSuccessPolicy,
])

export function outcomeOf(input: OutcomeInput): JobOutcome | undefined {
  for (const rule of rules) {
    const outcome = rule(input)
    if (outcome) return outcome
  }
  return undefined
}

/** Enough pods have succeeded and none is active any more. */
export function completion(job: Job, counts: JobCounts, active: number): JobOutcome | undefined {
  const completions = completionsOf(job)
  const isEnough =
    completions === undefined ? counts.succeeded > 0 : counts.succeeded >= completions
  if (!isEnough || active > 0) return undefined
  return {
    result: 'success',
    reason: 'CompletionsReached',
    message: 'Reached expected number of succeeded pods',
  }
}

function decided(job: Job, type: string, result: JobOutcome['result']): JobOutcome | undefined {
  const condition = conditionOf(job, type)
  if (!condition) return undefined
  return { result, reason: condition.reason ?? '', message: condition.message ?? '' }
}

function failedByPolicy({ job, pods }: OutcomeInput): JobOutcome | undefined {
  if (!job.spec?.podFailurePolicy) return undefined
  for (const pod of pods) {
    if (!hasFailed(job, pod)) continue
    const verdict = judgeFailure(job, pod)
    if (verdict.action === 'FailJob') return failure('PodFailurePolicy', verdict.message)
  }
  return undefined
}

function exceededBackoffLimit({ job, pods, counts }: OutcomeInput): JobOutcome | undefined {
  const limit = job.spec?.backoffLimit ?? 6
  const isExceeded = counts.failed > limit || restartsExceed(job, pods, limit)
  if (!isExceeded) return undefined
  return failure('BackoffLimitExceeded', 'Job has reached the specified backoff limit')
}

/** With restartPolicy OnFailure the restarts of containers count as tries. */
function restartsExceed(job: Job, pods: readonly Pod[], limit: number): boolean {
  if (job.spec?.template.spec?.restartPolicy !== 'OnFailure') return false
  let restarts = 0
  for (const { status } of pods) {
    if (status?.phase !== 'Running' && status?.phase !== 'Pending') continue
    const statuses = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]
    restarts += statuses.reduce((sum, { restartCount }) => sum + restartCount, 0)
  }
  return limit === 0 ? restarts > 0 : restarts >= limit
}

/** Returns undefined without a deadline, or before the job has started. */
export function deadlineInMs(job: Job, nowMs: number): number | undefined {
  const seconds = job.spec?.activeDeadlineSeconds
  const startTime = job.status?.startTime
  if (seconds === undefined || !startTime || isSuspended(job)) return undefined
  return Date.parse(startTime) + seconds * 1000 - nowMs
}

function pastDeadline({ job, nowMs }: OutcomeInput): JobOutcome | undefined {
  const inMs = deadlineInMs(job, nowMs)
  if (inMs === undefined || inMs > 0) return undefined
  return failure('DeadlineExceeded', 'Job was active longer than specified deadline')
}

function exceededFailedIndexes({ job, counts }: OutcomeInput): JobOutcome | undefined {
  const failed = counts.failedIndexes?.size ?? 0
  if (failed === 0) return undefined
  const { maxFailedIndexes } = job.spec ?? {}
  if (maxFailedIndexes !== undefined && failed > maxFailedIndexes) {
    const message = 'Job has exceeded the specified maximal number of failed indexes'
    return failure('MaxFailedIndexesExceeded', message)
  }
  if (failed + counts.succeededIndexes.size < (completionsOf(job) ?? 0)) return undefined
  return failure('FailedIndexes', 'Job has failed indexes')
}

function metSuccessPolicy({ job, counts }: OutcomeInput): JobOutcome | undefined {
  if (!isIndexed(job) || counts.succeededIndexes.size === 0) return undefined
  const rules = job.spec?.successPolicy?.rules ?? []
  const position = rules.findIndex(({ succeededIndexes, succeededCount }) => {
    if (succeededIndexes === undefined) {
      return succeededCount !== undefined && counts.succeededIndexes.size >= succeededCount
    }
    const wanted = IndexSet.parse(succeededIndexes, completionsOf(job) ?? 0)
    if (wanted.size === 0) return false
    const done = wanted.overlap(counts.succeededIndexes)
    return done === wanted.size || (succeededCount !== undefined && done >= succeededCount)
  })
  if (position === -1) return undefined
  const message = `Matched rules at index ${position}`
  return { result: 'success', reason: 'SuccessPolicy', message }
}

function failure(reason: string, message: string): JobOutcome {
  return { result: 'failure', reason, message }
}
