import {
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  type CronJob,
  type CronJobSpec,
  type StatusCause,
} from '@skerry/api'
import { checkCounters, checkRequiredOneOf, type Found } from '../checks.ts'
import type { Loose, LooseObject } from '../typed-strategy.ts'
import { scheduleError } from './cron-schedule.ts'
import { checkJobSpec } from './job-spec-validation.ts'
import { kindsBounds } from '../../limits-table.ts'

const { nameLengthMax } = kindsBounds.cronJobValidation

export function validateCronJob(cronJob: LooseObject<CronJob>): StatusCause[] {
  const found: Found = []
  checkSpec(cronJob.spec ?? {}, undefined, found)
  const { name = '' } = cronJob.metadata
  if (name.length > nameLengthMax) {
    const detail = `must be no more than ${nameLengthMax} characters`
    found.push(fieldInvalid('metadata.name', name, detail))
  }
  return found
}

export function validateCronJobUpdate(
  next: LooseObject<CronJob>,
  old: LooseObject<CronJob>,
): StatusCause[] {
  const found: Found = []
  checkSpec(next.spec ?? {}, old.spec ?? {}, found)
  return found
}

function checkSpec(
  spec: Loose<CronJobSpec>,
  old: Loose<CronJobSpec> | undefined,
  found: Found,
): void {
  checkSchedule(spec, old, found)
  checkCounters(spec, ['startingDeadlineSeconds'], 'spec', found)
  if (!old || old.timeZone !== spec.timeZone) checkTimeZone(spec.timeZone, 'spec.timeZone', found)
  const policies = ['Allow', 'Forbid', 'Replace']
  checkRequiredOneOf(spec.concurrencyPolicy, policies, 'spec.concurrencyPolicy', found)
  const template = spec.jobTemplate?.spec ?? {}
  checkJobSpec(template, 'spec.jobTemplate.spec', found)
  if (template.selector) {
    const detail = '`selector` will be auto-generated'
    found.push(fieldInvalid('spec.jobTemplate.spec.selector', template.selector, detail))
  }
  if (template.manualSelector) {
    const field = 'spec.jobTemplate.spec.manualSelector'
    found.push(fieldNotSupported(field, true, ['nil', 'false']))
  }
  checkCounters(spec, ['successfulJobsHistoryLimit', 'failedJobsHistoryLimit'], 'spec', found)
}

function checkSchedule(
  spec: Loose<CronJobSpec>,
  old: Loose<CronJobSpec> | undefined,
  found: Found,
): void {
  const { schedule = '' } = spec
  const field = 'spec.schedule'
  if (!schedule) {
    found.push(fieldRequired(field))
    return
  }
  const error = scheduleError(schedule)
  if (error) found.push(fieldInvalid(field, schedule, error))
  if (!schedule.includes('TZ')) return
  if (!old?.schedule?.includes('TZ')) {
    const detail = 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'
    found.push(fieldInvalid(field, schedule, detail))
  } else if (spec.timeZone !== undefined) {
    const detail = 'cannot use both timeZone field and TZ or CRON_TZ in schedule'
    found.push(fieldInvalid(field, schedule, detail))
  }
}

const zonePart = /^(?!-|\.\.?$)[A-Za-z._0-9+-]{1,14}$/

function checkTimeZone(zone: string | undefined, field: string, found: Found): void {
  if (zone === undefined) return
  if (zone === '') {
    found.push(fieldInvalid(field, zone, 'timeZone must be nil or non-empty string'))
  } else if (zone.toLowerCase() === 'local') {
    const detail =
      'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones'
    found.push(fieldInvalid(field, zone, detail))
  } else if (!zone.split('/').every((part) => zonePart.test(part)) || !isKnownZone(zone)) {
    found.push(fieldInvalid(field, zone, `unknown time zone ${zone}`))
  }
}

function isKnownZone(zone: string): boolean {
  try {
    return Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== ''
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}
