import type { CronJob } from '../../generated/types.ts'
import { statusApart } from '../keep-fields.ts'
import { strategyOf, type LooseObject } from '../typed-strategy.ts'
import { applyJobTemplateSpecDefaults } from './job-spec-defaults.ts'
import { validateCronJob, validateCronJobUpdate } from './cron-job-validation.ts'

export const cronJobStrategy = strategyOf<CronJob>({
  validate: validateCronJob,
  validateUpdate: validateCronJobUpdate,
  ...statusApart,
  defaults: applyCronJobDefaults,
})

function applyCronJobDefaults(cronJob: LooseObject<CronJob>): void {
  const spec = (cronJob.spec ??= {})
  cronJob.status ??= {}
  spec.concurrencyPolicy ||= 'Allow'
  spec.suspend ??= false
  spec.successfulJobsHistoryLimit ??= 3
  spec.failedJobsHistoryLimit ??= 1
  const template = (spec.jobTemplate ??= {})
  template.metadata ??= {}
  applyJobTemplateSpecDefaults((template.spec ??= {}))
}
