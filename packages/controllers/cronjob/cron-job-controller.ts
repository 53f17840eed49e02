import { isStatusError, type CronJob, type Job, type ObjectReference } from '@skerry/api'
import { messageOf } from '@skerry/base'
import { keyOfObject, parseKey, resources, type EventText } from '@skerry/client'
import {
  byControllerUid,
  controllerOf,
  controllerUidIndex,
  isControlledBy,
  watch,
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
} from '@skerry/controller-runtime'
import { isNamespaceTerminating } from '../pods/pod-actions.ts'
import { sameStatus } from '../status/same-status.ts'
import { timestamp } from '../status/timestamp.ts'
import { planCronJob, type CronJobPlan } from './cron-job-plan.ts'
import { isTimeZone, parseSchedule, type Schedule } from './schedule.ts'

/** Creates jobs on a schedule. */
export const cronJobController: ControllerDefinition = {
  name: 'cronjob-controller',
  watches: [
    watch(resources.cronJobs, { keysOf: ({ object }) => [keyOfObject(object)] }),
    watch(resources.jobs, {
      keysOf: ({ object }) => cronJobOfJob(object),
      indexes: { [byControllerUid]: controllerUidIndex },
    }),
  ],
  reconcile,
}

function cronJobOfJob(job: Job): readonly string[] {
  const owner = controllerOf(job)
  return owner?.kind === 'CronJob' ? [`${job.metadata.namespace}/${owner.name}`] : []
}

async function reconcile(
  key: string,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<ReconcileResult | void> {
  const cronJob = context.informer(resources.cronJobs).get(parseKey(key))
  if (!cronJob) return
  const schedule = scheduleOf(cronJob, context)
  if (!schedule) return
  const jobs = context.informer(resources.jobs).byIndex(byControllerUid, cronJob.metadata.uid ?? '')
  const plan = planCronJob({ cronJob, jobs, schedule, nowMs: context.clock.now() })
  for (const text of plan.events) context.events.event(cronJob, text)
  for (const job of plan.remove) await remove(cronJob, job, context, signal)
  const started = await start(cronJob, plan, context, signal)
  const status = started ? withStarted(plan, started) : plan.status
  if (!sameStatus(cronJob.status, status)) {
    await context.client(resources.cronJobs).updateStatus({ ...cronJob, status }, signal)
  }
  return plan.requeueAfterMs === undefined ? undefined : { requeueAfterMs: plan.requeueAfterMs }
}

/** Returns undefined if the spec must change first. */
function scheduleOf(cronJob: CronJob, context: ControllerContext): Schedule | undefined {
  const schedule = cronJob.spec?.schedule ?? ''
  const timeZone = cronJob.spec?.timeZone
  const warn = (reason: string, message: string): void =>
    context.events.event(cronJob, { type: 'Warning', reason, message })
  if (timeZone !== undefined && !isTimeZone(timeZone)) {
    warn('UnknownTimeZone', `invalid timeZone: "${timeZone}": unknown time zone ${timeZone}`)
    return undefined
  }
  try {
    return parseSchedule(schedule, timeZone)
  } catch (error) {
    warn('UnparseableSchedule', `unparseable schedule: "${schedule}" : ${messageOf(error)}`)
    return undefined
  }
}

async function remove(
  cronJob: CronJob,
  job: Job,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const key = parseKey(keyOfObject(job))
  const report = (type: EventText['type'], reason: string, message: string): void =>
    context.events.event(cronJob, { type, reason, message })
  try {
    await context.client(resources.jobs).delete({ ...key, propagationPolicy: 'Background' }, signal)
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return
    report('Warning', 'FailedDelete', `Deleted job: ${messageOf(error)}`)
    throw error
  }
  report('Normal', 'SuccessfulDelete', `Deleted job ${job.metadata.name}`)
}

async function start(
  cronJob: CronJob,
  { create }: CronJobPlan,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<Job | undefined> {
  if (!create) return undefined
  const report = (type: EventText['type'], reason: string, message: string): void =>
    context.events.event(cronJob, { type, reason, message })
  try {
    const job = await context.client(resources.jobs).create(create.job, signal)
    report('Normal', 'SuccessfulCreate', `Created job ${job.metadata.name}`)
    return job
  } catch (error) {
    if (isStatusError(error, 'AlreadyExists')) return existing(cronJob, create.job, context, signal)
    if (isNamespaceTerminating(error)) return undefined
    report('Warning', 'FailedCreate', `Error creating job: ${messageOf(error)}`)
    throw error
  }
}

/** An earlier run created it and was interrupted before it updated the status. */
async function existing(
  cronJob: CronJob,
  wanted: Job,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<Job | undefined> {
  const key = parseKey(keyOfObject(wanted))
  const job = await context.cluster.resource(resources.jobs).get(key, signal)
  return isControlledBy(job, cronJob) ? job : undefined
}

function withStarted(plan: CronJobPlan, job: Job): CronJobPlan['status'] {
  const { name = '', namespace = '', uid = '', resourceVersion = '' } = job.metadata
  const known = plan.status.active ?? []
  const reference: ObjectReference = {
    apiVersion: job.apiVersion,
    kind: job.kind,
    namespace,
    name,
    uid,
    resourceVersion,
  }
  const active = known.some((each) => each.uid === uid) ? known : [...known, reference]
  const scheduledMs = plan.create?.scheduledMs ?? 0
  return { ...plan.status, active, lastScheduleTime: timestamp(scheduledMs) }
}
