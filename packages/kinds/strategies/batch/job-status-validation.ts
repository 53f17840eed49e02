import {
  fieldInvalid,
  fieldRequired,
  invalidOmitted,
  type Job,
  type JobStatus,
  type StatusCause,
} from '@skerry/api'
import { checkCounters, isSame, type Found } from '../checks.ts'
import type { Loose, LooseObject } from '../typed-strategy.ts'

type Status = Loose<JobStatus>

export function validateJobStatus(next: LooseObject<Job>, old: LooseObject<Job>): StatusCause[] {
  const found: Found = []
  const { status = {} } = next
  const before = old.status ?? {}
  checkCounters(status, ['active', 'succeeded', 'failed', 'ready', 'terminating'], 'status', found)
  checkConditions(status, before, found)
  if (isFinished(status)) checkFinished(next, before, found)
  checkTimes(next, before, found)
  if ((status.ready ?? 0) > (status.active ?? 0)) {
    const detail = 'cannot set more ready pods than active'
    found.push(fieldInvalid('status.ready', status.ready, detail))
  }
  checkNoStepBack(next, before, found)
  return found
}

function isTrue(status: Status, type: string): boolean {
  return (status.conditions ?? []).some(
    (condition) => condition.type === type && condition.status === 'True',
  )
}

function isFinished(status: Status): boolean {
  return isTrue(status, 'Complete') || isTrue(status, 'Failed')
}

/** [one, other, text]: both at once are refused if either of them is new. */
const exclusive: readonly (readonly [string, string, string])[] = [
  ['Complete', 'Failed', 'cannot set Complete=True and Failed=true conditions'],
  ['Complete', 'FailureTarget', 'cannot set Complete=True and FailureTarget=true conditions'],
  ['SuccessCriteriaMet', 'Failed', 'cannot set SuccessCriteriaMet=True and Failed=true conditions'],
  [
    'SuccessCriteriaMet',
    'FailureTarget',
    'cannot set SuccessCriteriaMet=True and FailureTarget=true conditions',
  ],
]

/** [condition, required condition, text]: an end must be announced before it is set. */
const announced: readonly (readonly [string, string, string])[] = [
  [
    'Failed',
    'FailureTarget',
    'cannot set Failed=True condition without the FailureTarget=true condition',
  ],
  [
    'Complete',
    'SuccessCriteriaMet',
    'cannot set Complete=True condition without the SuccessCriteriaMet=true condition',
  ],
]

function checkConditions(status: Status, before: Status, found: Found): void {
  const field = 'status.conditions'
  for (const [one, other, text] of exclusive) {
    if (isTrue(status, one) && isTrue(status, other)) found.push(invalidOmitted(field, text))
  }
  for (const [one, needed, text] of announced) {
    const isNew = isTrue(status, one) !== isTrue(before, one)
    if (isNew && isTrue(status, one) && !isTrue(status, needed)) {
      found.push(invalidOmitted(field, text))
    }
  }
}

function checkFinished(job: LooseObject<Job>, before: Status, found: Found): void {
  const { status = {}, spec = {} } = job
  const isNew = !isFinished(before)
  const { active = 0, terminating = 0 } = status
  if (active > 0 && (isNew || active !== before.active)) {
    found.push(fieldInvalid('status.active', active, 'active>0 is invalid for finished job'))
  }
  const isEmptyAndSuspended = spec.suspend === true && spec.completions === 0
  if (!status.startTime && isNew && !isEmptyAndSuspended) {
    found.push(fieldRequired('status.startTime', 'startTime is required for finished job'))
  }
  const { failed = [], succeeded = [] } = status.uncountedTerminatedPods ?? {}
  const isUncounted = failed.length + succeeded.length > 0
  if (isUncounted && !isSame(status.uncountedTerminatedPods, before.uncountedTerminatedPods)) {
    const shown = { Succeeded: succeeded, Failed: failed }
    const detail = 'must be empty for finished job'
    found.push(fieldInvalid('status.uncountedTerminatedPods', shown, detail))
  }
  if (terminating > 0 && (isNew || terminating !== before.terminating)) {
    const detail = 'terminating>0 is invalid for finished job'
    found.push(fieldInvalid('status.terminating', terminating, detail))
  }
}

function checkTimes(job: LooseObject<Job>, before: Status, found: Found): void {
  const { status = {}, spec = {} } = job
  const { completionTime, startTime } = status
  const isComplete = isTrue(status, 'Complete')
  const isNew =
    isComplete !== isTrue(before, 'Complete') || completionTime !== before.completionTime
  const field = 'status.completionTime'
  if (isNew && completionTime && !isComplete) {
    const detail = 'cannot set completionTime when there is no Complete=True condition'
    found.push(fieldInvalid(field, completionTime, detail))
  }
  if (isNew && !completionTime && isComplete) {
    found.push(fieldRequired(field, 'completionTime is required for Complete jobs'))
  }
  if (startTime && completionTime && Date.parse(completionTime) < Date.parse(startTime)) {
    const detail = 'must be equal to or after `startTime`'
    found.push(fieldInvalid(field, completionTime, detail))
  }
  if (completionTime && before.completionTime && completionTime !== before.completionTime) {
    found.push(fieldInvalid(field, completionTime, 'field is immutable'))
  }
  const isResuming = isTrue(before, 'Suspended') && !isTrue(status, 'Suspended')
  if (!before.startTime || startTime === before.startTime || spec.suspend || isResuming) return
  const detail = 'field is immutable for unsuspended job once set'
  found.push(fieldInvalid('status.startTime', startTime ?? null, detail))
}

function checkNoStepBack(job: LooseObject<Job>, before: Status, found: Found): void {
  const { status = {}, spec = {} } = job
  for (const type of ['Failed', 'Complete', 'FailureTarget']) {
    if (!isTrue(before, type) || isTrue(status, type)) continue
    const detail = `cannot disable the terminal ${type}=True condition`
    found.push(invalidOmitted('status.conditions', detail))
  }
  const { failed = 0, succeeded = 0 } = status
  if (failed < (before.failed ?? 0)) {
    found.push(fieldInvalid('status.failed', failed, 'cannot decrease the failed counter'))
  }
  // An elastic indexed job that is scaled down drops the indexes that it no longer has.
  const isElastic = spec.completionMode === 'Indexed' && spec.completions === spec.parallelism
  if (succeeded < (before.succeeded ?? 0) && !isElastic) {
    found.push(fieldInvalid('status.succeeded', succeeded, 'cannot decrease the succeeded counter'))
  }
  if (isTrue(before, 'SuccessCriteriaMet') && !isTrue(status, 'SuccessCriteriaMet')) {
    const detail = 'cannot disable the SuccessCriteriaMet=True condition'
    found.push(invalidOmitted('status.conditions', detail))
  }
}
