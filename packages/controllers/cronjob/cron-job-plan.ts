import type { CronJob, CronJobStatus, Job, ObjectReference } from '@skerry/api'
import type { EventText } from '@skerry/client'
import { controllerReference } from '@skerry/controller-runtime'
import { conditionOf, isFinished } from '../job/job-spec.ts'
import { timestamp } from '../status/timestamp.ts'
import type { Schedule } from './schedule.ts'
import { controllerBounds } from '../limits-table.ts'

const scheduledTimeAnnotation = 'batch.kubernetes.io/cronjob-scheduled-timestamp'
const { repeatedMsMax, lateMs, missedTimesMax } = controllerBounds.cronJobPlan

export interface CronJobView {
  cronJob: CronJob
  /** The jobs that it controls. */
  jobs: readonly Job[]
  schedule: Schedule
  nowMs: number
}

export interface CronJobPlan {
  /** The old finished jobs, and with Replace those that still run. */
  readonly remove: readonly Job[]
  readonly create: { readonly job: Job; readonly scheduledMs: number } | undefined
  readonly status: CronJobStatus
  readonly events: readonly EventText[]
  readonly requeueAfterMs: number | undefined
}

/** Plans the next steps. A pure function. */
export function planCronJob(given: CronJobView): CronJobPlan {
  const view = { ...given, cronJob: counted(given) }
  const { cronJob, jobs } = view
  const observed = observeJobs(cronJob, jobs)
  const history = surplusHistory(cronJob, jobs)
  const isIdle = cronJob.metadata.deletionTimestamp !== undefined || cronJob.spec?.suspend === true
  const start = isIdle ? undefined : planStart(view, observed.status.active ?? [])
  const replaced = start?.replace ?? []
  const active = (observed.status.active ?? []).filter(
    ({ uid }) => !replaced.some(({ metadata }) => metadata.uid === uid),
  )
  return {
    remove: [...history, ...replaced],
    create: start?.create,
    status: { ...observed.status, active },
    events: [...observed.events, ...(start?.events ?? [])],
    requeueAfterMs: isIdle ? undefined : untilNextMs(view),
  }
}

/**
 * A CronJob whose last time or creation is far in the future counts from now, because the clock was
 * wrong then and it would wait for years. Upstream's does wait.
 */
function counted({ cronJob, nowMs }: CronJobView): CronJob {
  const sinceMs = Date.parse(sinceText(cronJob))
  if (!(sinceMs - nowMs > repeatedMsMax)) return cronJob
  return { ...cronJob, status: { ...cronJob.status, lastScheduleTime: timestamp(nowMs) } }
}

function sinceText({ metadata, status }: CronJob): string {
  return status?.lastScheduleTime ?? metadata.creationTimestamp ?? ''
}

interface Observed {
  status: CronJobStatus
  events: EventText[]
}

/** Determines the state of the jobs that the status lists as active. */
function observeJobs(cronJob: CronJob, jobs: readonly Job[]): Observed {
  const events: EventText[] = []
  const byUid = new Map(jobs.map((job) => [job.metadata.uid, job]))
  const known = cronJob.status?.active ?? []
  const active: ObjectReference[] = []
  for (const reference of known) {
    const job = byUid.get(reference.uid)
    if (!job) {
      events.push(normal('MissingJob', `Active job went missing: ${reference.name}`))
    } else if (isFinished(job)) {
      const type = conditionOf(job, 'Complete') ? 'Complete' : 'Failed'
      const message = `Saw completed job: ${job.metadata.name}, condition: ${type}`
      events.push(normal('SawCompletedJob', message))
    } else active.push(reference)
  }
  for (const job of jobs) {
    if (isFinished(job) || known.some(({ uid }) => uid === job.metadata.uid)) continue
    const message = `Saw a job that the controller did not create or forgot: ${job.metadata.name}`
    events.push({ type: 'Warning', reason: 'UnexpectedJob', message })
  }
  const lastSuccessfulTime = lastSuccess(cronJob, jobs)
  const status = { ...cronJob.status, active }
  return { status: lastSuccessfulTime ? { ...status, lastSuccessfulTime } : status, events }
}

function lastSuccess(cronJob: CronJob, jobs: readonly Job[]): string | undefined {
  const times = jobs
    .filter((job) => conditionOf(job, 'Complete'))
    .flatMap((job) => job.status?.completionTime ?? [])
  return [cronJob.status?.lastSuccessfulTime ?? '', ...times].toSorted().at(-1) || undefined
}

function surplusHistory(cronJob: CronJob, jobs: readonly Job[]): Job[] {
  const { successfulJobsHistoryLimit, failedJobsHistoryLimit } = cronJob.spec ?? {}
  return [
    ...oldest(
      jobs.filter((job) => conditionOf(job, 'Complete')),
      successfulJobsHistoryLimit,
    ),
    ...oldest(
      jobs.filter((job) => conditionOf(job, 'Failed')),
      failedJobsHistoryLimit,
    ),
  ]
}

function oldest(jobs: readonly Job[], limit: number | undefined): Job[] {
  if (limit === undefined) return []
  const startOf = ({ status, metadata }: Job): string =>
    `${status?.startTime ?? metadata.creationTimestamp} ${metadata.name}`
  return jobs
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .toSorted((a, b) => (startOf(a) < startOf(b) ? -1 : 1))
    .slice(0, Math.max(0, jobs.length - limit))
}

interface Start {
  create?: CronJobPlan['create']
  replace?: readonly Job[]
  events: readonly EventText[]
}

/** Starts the newest due time; earlier missed ones are lost. */
function planStart(view: CronJobView, active: readonly ObjectReference[]): Start {
  const { cronJob, jobs, nowMs } = view
  const { concurrencyPolicy, startingDeadlineSeconds } = cronJob.spec ?? {}
  if (view.schedule.next(nowMs) === undefined) return { events: [neverDue(cronJob)] }
  const times = dueTimes(view)
  const [scheduledMs] = times
  if (scheduledMs === undefined) return { events: [] }
  const events: EventText[] = times.length > missedTimesMax ? [tooManyMissed(times.length)] : []
  if (
    startingDeadlineSeconds !== undefined &&
    scheduledMs + startingDeadlineSeconds * 1000 < nowMs
  ) {
    const text = new Date(scheduledMs).toUTCString().replace('GMT', '+0000')
    const message = `Missed scheduled time to start a job: ${text}`
    return { events: [...events, { type: 'Warning', reason: 'MissSchedule', message }] }
  }
  const name = jobName(cronJob, scheduledMs)
  const isStarted =
    active.some((reference) => reference.name === name) ||
    cronJob.status?.lastScheduleTime === timestamp(scheduledMs)
  if (isStarted) return { events }
  if (concurrencyPolicy === 'Forbid' && active.length > 0) {
    const message =
      'Not starting job because prior execution is running and concurrency policy is Forbid'
    return { events: [...events, normal('JobAlreadyActive', message)] }
  }
  const replace =
    concurrencyPolicy === 'Replace'
      ? jobs.filter(({ metadata }) => active.some(({ uid }) => uid === metadata.uid))
      : []
  return { create: { job: jobFromTemplate(cronJob, scheduledMs), scheduledMs }, replace, events }
}

/** Returns the due times, newest first; at most one more than may be missed. */
function dueTimes({ cronJob, schedule, nowMs }: CronJobView): number[] {
  return schedule.latest({
    afterMs: earliestMs(cronJob, nowMs),
    untilMs: nowMs,
    max: missedTimesMax + 1,
  })
}

function earliestMs(cronJob: CronJob, nowMs: number): number {
  const { startingDeadlineSeconds } = cronJob.spec ?? {}
  const sinceMs = Date.parse(sinceText(cronJob))
  if (startingDeadlineSeconds === undefined) return sinceMs
  return Math.max(sinceMs, nowMs - startingDeadlineSeconds * 1000)
}

function untilNextMs({ cronJob, schedule, nowMs }: CronJobView): number | undefined {
  // An @every schedule counts from its last time, any other from the clock.
  const sinceMs = Date.parse(cronJob.status?.lastScheduleTime ?? '')
  const isConstant = cronJob.spec?.schedule.startsWith('@every') === true && sinceMs <= nowMs
  let nextMs = schedule.next(isConstant ? sinceMs : nowMs)
  if (nextMs !== undefined && nextMs <= nowMs) nextMs = schedule.next(nowMs)
  return nextMs === undefined ? undefined : nextMs - nowMs + lateMs
}

/** The name contains the time in minutes, so that the same time cannot be started twice. */
function jobName(cronJob: CronJob, scheduledMs: number): string {
  return `${cronJob.metadata.name}-${Math.floor(scheduledMs / 60_000)}`
}

function jobFromTemplate(cronJob: CronJob, scheduledMs: number): Job {
  const { metadata, spec } = cronJob.spec?.jobTemplate ?? {}
  const { namespace } = cronJob.metadata
  const annotations = {
    ...metadata?.annotations,
    [scheduledTimeAnnotation]: zonedTimestamp(scheduledMs, cronJob.spec?.timeZone),
  }
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: jobName(cronJob, scheduledMs),
      ...(namespace ? { namespace } : {}),
      ...(metadata?.labels ? { labels: metadata.labels } : {}),
      annotations,
      ownerReferences: [controllerReference(cronJob)],
    },
    ...(spec ? { spec } : {}),
  }
}

/** Formats RFC 3339 with the zone's offset, as upstream does. */
function zonedTimestamp(ms: number, timeZone: string | undefined): string {
  if (timeZone === undefined) return timestamp(ms)
  const zoned = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' })
  const part = zoned.formatToParts(ms).find(({ type }) => type === 'timeZoneName')?.value ?? 'GMT'
  const [, sign, hours = '00', minutes = '00'] = /GMT([+-])(\d\d):(\d\d)/.exec(part) ?? []
  if (sign === undefined) return timestamp(ms)
  const offsetMs = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000
  return `${timestamp(ms + offsetMs).slice(0, -1)}${sign}${hours}:${minutes}`
}

/** Reports a valid schedule that names a day that never comes. */
function neverDue({ spec }: CronJob): EventText {
  const why = 'time difference between two schedules is less than 1 second'
  const message = `invalid schedule: ${spec?.schedule} : ${why}`
  return { type: 'Warning', reason: 'InvalidSchedule', message }
}

function tooManyMissed(count: number): EventText {
  const message = `too many missed start times: ${count}. Set or decrease .spec.startingDeadlineSeconds or check clock skew`
  return { type: 'Warning', reason: 'TooManyMissedTimes', message }
}

function normal(reason: string, message: string): EventText {
  return { type: 'Normal', reason, message }
}
