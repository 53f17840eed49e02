import type { Job, JobCondition } from '@skerry/api'

export function isIndexed(job: Job): boolean {
  return job.spec?.completionMode === 'Indexed'
}

/** Pods that must succeed; undefined: a work queue, done when one has succeeded and all have ended. */
export function completionsOf(job: Job): number | undefined {
  return job.spec?.completions
}

export function isSuspended(job: Job): boolean {
  return job.spec?.suspend === true
}

/** A pod that is being deleted is replaced only once it has ended, and counts only then. */
export function onlyReplacesFailed(job: Job): boolean {
  return job.spec?.podReplacementPolicy === 'Failed' || job.spec?.podFailurePolicy !== undefined
}

export function conditionOf(job: Job, type: string): JobCondition | undefined {
  return job.status?.conditions?.find(
    (condition) => condition.type === type && condition.status === 'True',
  )
}

export function isFinished(job: Job): boolean {
  return conditionOf(job, 'Complete') !== undefined || conditionOf(job, 'Failed') !== undefined
}

/** Another controller has this job (spec.managedBy). */
export function isManagedElsewhere(job: Job): boolean {
  const { managedBy } = job.spec ?? {}
  return managedBy !== undefined && managedBy !== 'kubernetes.io/job-controller'
}
