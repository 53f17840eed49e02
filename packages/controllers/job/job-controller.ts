import { isStatusError, labelSelectorOf, type Job, type JobStatus, type Pod } from '@skerry/api'
import { keyOfObject, parseKey, resources, type Change } from '@skerry/client'
import {
  byControllerUid,
  claimOwned,
  controllerOf,
  controllerUidIndex,
  watch,
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
} from '@skerry/controller-runtime'
import { createInBatches, createPod, deletePod } from '../pods/pod-actions.ts'
import { isPodReady } from '../pods/pod-state.ts'
import { sameStatus } from '../status/same-status.ts'
import { planJob, type JobPlan } from './job-plan.ts'
import { isTracked, jobPod, trackingFinalizer } from './job-pods.ts'
import { completionsOf, isFinished, isManagedElsewhere } from './job-spec.ts'
import { controllerBounds } from '../limits-table.ts'

const byJob = 'trackedByJob'
const { podDelayMs } = controllerBounds.jobController

/** Runs pods until enough of them have succeeded. */
export const jobController: ControllerDefinition = {
  name: 'job-controller',
  watches: [
    watch(resources.jobs, { keysOf: ({ object }) => [keyOfObject(object)] }),
    watch(resources.pods, {
      keysOf: jobsOfPod,
      indexes: { [byControllerUid]: controllerUidIndex, [byJob]: trackedByJobIndex },
      delayMs: podDelayMs,
    }),
  ],
  reconcile,
}

/** Returns the job that must count this pod, whether it still exists or not. */
function trackedByJobIndex(pod: Pod): readonly string[] {
  if (!isTracked(pod)) return []
  const owner = controllerOf(pod)
  const name = owner ? owner.name : pod.metadata.labels?.['batch.kubernetes.io/job-name']
  const isJobs = owner === undefined || owner.kind === 'Job'
  return isJobs && name ? [`${pod.metadata.namespace}/${name}`] : []
}

function jobsOfPod(change: Change<Pod>, context: ControllerContext): readonly string[] {
  const { namespace } = change.object.metadata
  const keys = new Set<string>()
  for (const pod of [change.old, change.object]) {
    const owner = pod && controllerOf(pod)
    if (owner?.kind === 'Job') keys.add(`${namespace}/${owner.name}`)
    for (const key of pod ? trackedByJobIndex(pod) : []) keys.add(key)
  }
  if (change.type === 'deleted' || controllerOf(change.object)) return [...keys]
  for (const job of context.informer(resources.jobs).list(namespace)) {
    if (labelSelectorOf(job.spec?.selector).matches(change.object.metadata.labels)) {
      keys.add(keyOfObject(job))
    }
  }
  return [...keys]
}

async function reconcile(
  key: string,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<ReconcileResult | void> {
  const job = context.informer(resources.jobs).get(parseKey(key))
  await releaseStrays(key, job, context, signal)
  if (!job || isFinished(job) || isManagedElsewhere(job)) return
  const pods = await claimPods(job, context, signal)
  const plan = planJob({ job, pods, nowMs: context.clock.now() })
  const done: Done = { created: 0, removed: 0, removedReady: 0 }
  try {
    await act({ job, plan, done }, context, signal)
  } finally {
    await writeStatus({ job, plan, done }, context, signal)
  }
  for (const pod of plan.release) await release(pod, context, signal)
  return plan.requeueAfterMs === undefined ? undefined : { requeueAfterMs: plan.requeueAfterMs }
}

/** Pods of a job that is gone or finished need not wait for it. */
async function releaseStrays(
  key: string,
  job: Job | undefined,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  for (const pod of context.informer(resources.pods).byIndex(byJob, key)) {
    const owner = controllerOf(pod)
    const isWaiting =
      job !== undefined && !isFinished(job) && (!owner || owner.uid === job.metadata.uid)
    if (!isWaiting) await release(pod, context, signal)
  }
}

async function claimPods(
  job: Job,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<Pod[]> {
  const claim = {
    owner: job,
    owners: context.cluster.resource(resources.jobs),
    selector: labelSelectorOf(job.spec?.selector),
    resource: resources.pods,
  }
  return claimOwned(claim, context, signal)
}

/** The executed part of a plan, for the numbers in the status. */
interface Done {
  created: number
  removed: number
  removedReady: number
}

interface Carrying {
  job: Job
  plan: JobPlan
  done: Done
}

async function act(
  { job, plan, done }: Carrying,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  for (const pod of plan.remove) {
    await release(pod, context, signal)
    await deletePod({ context, owner: job, pod }, signal)
    done.removed++
    if (isPodReady(pod)) done.removedReady++
  }
  for (const pod of plan.end) await deletePod({ context, owner: job, pod }, signal)
  const next = plan.create.values()
  await createInBatches(plan.create.length, async () => {
    const wanted = next.next().value
    const pod = jobPod(job, wanted?.index, wanted?.failures)
    if (await createPod({ context, owner: job, pod }, signal)) done.created++
  })
}

async function writeStatus(
  { job, plan, done }: Carrying,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const { active = 0, ready = 0, terminating = 0 } = plan.status
  const status: JobStatus = {
    ...plan.status,
    active: active + done.created - done.removed,
    ready: ready - done.removedReady,
    terminating: terminating + done.removed,
  }
  if (sameStatus(job.status, status)) return
  await context.client(resources.jobs).updateStatus({ ...job, status }, signal)
  report(job, plan, context)
}

function report(job: Job, plan: JobPlan, context: ControllerContext): void {
  if (plan.suspendChange) {
    const message = `Job ${plan.suspendChange.toLowerCase()}`
    context.events.event(job, { type: 'Normal', reason: plan.suspendChange, message })
  }
  if (!plan.finished) return
  const { result, reason, message } = plan.finished
  if (result === 'failure') {
    return context.events.event(job, { type: 'Warning', reason, message })
  }
  const completions = completionsOf(job)
  if (completions !== undefined && (plan.status.succeeded ?? 0) > completions) {
    context.events.event(job, {
      type: 'Warning',
      reason: 'TooManySucceededPods',
      message: 'Too many succeeded pods running after completion count reached',
    })
  }
  context.events.event(job, { type: 'Normal', reason: 'Completed', message: 'Job completed' })
}

/** Removes the finalizer. The pod may then be deleted, or stay so that its logs can be read. */
async function release(pod: Pod, context: ControllerContext, signal: AbortSignal): Promise<void> {
  if (!isTracked(pod)) return
  const { uid } = pod.metadata
  const patch = { metadata: { uid, '$deleteFromPrimitiveList/finalizers': [trackingFinalizer] } }
  const request = { ...parseKey(keyOfObject(pod)), type: 'strategic' as const, patch }
  try {
    await context.client(resources.pods).patch(request, signal)
  } catch (error) {
    // The pod is gone, or another pod has its name.
    if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error
  }
}
