import type { Job, JobCondition } from '@skerry/api'

export function isIndexed(job: Job): boolean {
  return job.spec?.completionMode === 'Indexed'
}

/**
 * Returns how many pods must succeed, or undefined for a work queue, which is done when one has
 * succeeded and all have ended.
 */
export function completionsOf(job: Job): number | undefined {
  return job.spec?.completions
}

export function isSuspended(job: Job): boolean {
  return job.spec?.suspend === true
}

/** Returns true if a deleted pod is replaced, and counted, only once it has ended. */
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

/** Returns true if another controller manages this job (spec.managedBy). */
export function isManagedElsewhere(job: Job): boolean {
  const { managedBy } = job.spec ?? {}
  return managedBy !== undefined && managedBy !== 'kubernetes.io/job-controller'
}
