import type { Job, JobCondition } from '@skerry/api'
import { timestamp } from '../status/timestamp.ts'
import type { JobOutcome } from './job-outcome.ts'
import { isSuspended } from './job-spec.ts'

type ConditionText = Pick<JobCondition, 'type' | 'status' | 'reason' | 'message'>

function withCondition(
  conditions: readonly JobCondition[],
  next: ConditionText,
  nowMs: number,
): readonly JobCondition[] {
  const known = conditions.find(({ type }) => type === next.type)
  if (known?.status === next.status && known.reason === next.reason) return conditions
  const now = timestamp(nowMs)
  const others = conditions.filter(({ type }) => type !== next.type)
  return [...others, { ...next, lastProbeTime: now, lastTransitionTime: now }]
}

/** Announces how the job will end, before its pods are gone. */
export function announceOutcome(
  conditions: readonly JobCondition[],
  { result, reason, message }: JobOutcome,
  nowMs: number,
): readonly JobCondition[] {
  const type = result === 'success' ? 'SuccessCriteriaMet' : 'FailureTarget'
  return withCondition(conditions, { type, status: 'True', reason, message }, nowMs)
}

/** Adds the final condition of the job. */
export function finish(
  conditions: readonly JobCondition[],
  { result, reason, message }: JobOutcome,
  nowMs: number,
): readonly JobCondition[] {
  const type = result === 'success' ? 'Complete' : 'Failed'
  return withCondition(conditions, { type, status: 'True', reason, message }, nowMs)
}

export type SuspendChange = 'Suspended' | 'Resumed' | undefined

/** A job that was never suspended has no such condition. */
export function suspendCondition(
  job: Job,
  nowMs: number,
): { conditions: readonly JobCondition[]; change: SuspendChange } {
  const conditions = job.status?.conditions ?? []
  const known = conditions.find(({ type }) => type === 'Suspended')
  const wasSuspended = known?.status === 'True'
  if (isSuspended(job) === wasSuspended) return { conditions, change: undefined }
  const change = isSuspended(job) ? 'Suspended' : 'Resumed'
  const next: ConditionText = {
    type: 'Suspended',
    status: isSuspended(job) ? 'True' : 'False',
    reason: `Job${change}`,
    message: `Job ${change.toLowerCase()}`,
  }
  return { conditions: withCondition(conditions, next, nowMs), change }
}
