import type { Job } from '@skerry/api'
import { statusApart } from '../keep-fields.ts'
import { strategyOf, type LooseObject } from '../typed-strategy.ts'
import { applyJobSpecDefaults } from './job-spec-defaults.ts'
import { validateJob, validateJobUpdate } from './job-validation.ts'
import { validateJobStatus } from './job-status-validation.ts'
import { isSame } from '../checks.ts'
import { warningsOfName } from '../name-warnings.ts'
import { warningsOfJobSpec } from './job-warnings.ts'

export const jobStrategy = strategyOf<Job>({
  warnings(next, old) {
    if (old && isSame(next.spec, old.spec)) return []
    return [...(old ? [] : warningsOfName(next.metadata)), ...warningsOfJobSpec(next.spec, 'spec')]
  },
  validate: validateJob,
  validateForm: validateJob,
  validateUpdate: validateJobUpdate,
  validateStatusUpdate: validateJobStatus,
  ...statusApart,
  defaults: applyJobDefaults,
  prepareForCreate(next) {
    applyJobDefaults(next)
    next.status = {}
    selectOwnPods(next)
  },
  defaultGarbageCollection: 'orphan',
})

function applyJobDefaults(job: LooseObject<Job>): void {
  const spec = (job.spec ??= {})
  job.status ??= {}
  const labels = spec.template?.metadata?.labels
  const { metadata } = job
  // This is the same record, not a copy: the job also shows the labels that its pods get later.
  if (labels && Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = labels
  applyJobSpecDefaults(spec)
}

/**
 * A job finds its pods by its uid, which cannot be reused, unless the client chose its own
 * selector. The labels without a prefix are the older names of the same data.
 */
function selectOwnPods(job: LooseObject<Job>): void {
  const spec = (job.spec ??= {})
  if (spec.manualSelector === true) return
  const template = (spec.template ??= {})
  const metadata = (template.metadata ??= {})
  const labels = (metadata.labels ??= {})
  const name = job.metadata.name ?? ''
  const uid = job.metadata.uid ?? ''
  labels['job-name'] ??= name
  labels['batch.kubernetes.io/job-name'] ??= name
  labels['controller-uid'] ??= uid
  labels['batch.kubernetes.io/controller-uid'] ??= uid
  spec.selector ??= {}
  spec.selector.matchLabels ??= {}
  spec.selector.matchLabels['batch.kubernetes.io/controller-uid'] ??= uid
}
