import type { CronJob } from '@skerry/api'
import { statusApart } from '../keep-fields.ts'
import { strategyOf, type LooseObject } from '../typed-strategy.ts'
import { applyJobTemplateSpecDefaults } from './job-spec-defaults.ts'
import { validateCronJob, validateCronJobUpdate } from './cron-job-validation.ts'
import { isSame } from '../checks.ts'
import { warningsOfName } from '../name-warnings.ts'
import { warningsOfJobSpec } from './job-warnings.ts'

export const cronJobStrategy = strategyOf<CronJob>({
  warnings: warningsOfCronJob,
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

function warningsOfCronJob(next: LooseObject<CronJob>, old?: LooseObject<CronJob>): string[] {
  const { spec = {} } = next
  const warnings = old ? [] : warningsOfName(next.metadata)
  if (!old || !isSame(spec, old.spec)) {
    warnings.push(...warningsOfJobSpec(spec.jobTemplate?.spec, 'spec.jobTemplate.spec'))
  }
  if (old && spec.schedule?.includes('TZ')) {
    // The path is upstream's.
    const what = 'cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead'
    const page = 'https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/'
    warnings.push(`${what}, see ${page} for more details`)
  }
  return warnings
}
