import type { Container, Job, Pod } from '@skerry/api'
import { podCondition } from '../pods/pod-state.ts'
import { podFromTemplate } from '../pods/pod-actions.ts'
import { completionsOf, isIndexed, onlyReplacesFailed } from './job-spec.ts'
import { controllerBounds } from '../limits-table.ts'

/** Keeps a finished pod until it is counted in the job's status. */
export const trackingFinalizer = 'batch.kubernetes.io/job-tracking'
const indexAnnotation = 'batch.kubernetes.io/job-completion-index'
const failureCountAnnotation = 'batch.kubernetes.io/job-index-failure-count'
const ignoredCountAnnotation = 'batch.kubernetes.io/job-index-ignored-failure-count'
const { namePrefixLengthMax } = controllerBounds.jobPods

export interface IndexFailures {
  readonly counted: number
  readonly ignored: number
}

/** `index` is undefined for jobs that are not indexed, `failures` without a limit per index. */
export function jobPod(
  job: Job,
  index: number | undefined,
  failures: IndexFailures | undefined,
): Pod {
  const pod = podFromTemplate(job.spec?.template ?? {}, job)
  const finalizers = [...new Set([...(pod.metadata.finalizers ?? []), trackingFinalizer])]
  const metadata = { ...pod.metadata, finalizers }
  if (index === undefined) return { ...pod, metadata }
  const annotations = {
    ...metadata.annotations,
    [indexAnnotation]: String(index),
    ...(failures ? { [failureCountAnnotation]: String(failures.counted) } : {}),
    ...(failures && failures.ignored > 0
      ? { [ignoredCountAnnotation]: String(failures.ignored) }
      : {}),
  }
  const { name = '' } = job.metadata
  const suffix = `-${index}-`
  return {
    ...pod,
    metadata: {
      ...metadata,
      generateName: `${name.slice(0, namePrefixLengthMax - suffix.length)}${suffix}`,
      annotations,
      labels: { ...metadata.labels, [indexAnnotation]: String(index) },
    },
    spec: {
      ...pod.spec,
      hostname: `${name}-${index}`,
      containers: (pod.spec?.containers ?? []).map(withIndexVariable),
      ...(pod.spec?.initContainers
        ? { initContainers: pod.spec.initContainers.map(withIndexVariable) }
        : {}),
    },
  }
}

function withIndexVariable(container: Container): Container {
  const name = 'JOB_COMPLETION_INDEX'
  if (container.env?.some((variable) => variable.name === name)) return container
  const fieldRef = { fieldPath: `metadata.labels['${indexAnnotation}']` }
  return { ...container, env: [...(container.env ?? []), { name, valueFrom: { fieldRef } }] }
}

/** Returns undefined if the pod has no index that is valid for this job. */
export function completionIndex(job: Job, pod: Pod): number | undefined {
  const text = pod.metadata.annotations?.[indexAnnotation]
  if (text === undefined || !/^[0-9]+$/.test(text)) return undefined
  return Number(text) < (completionsOf(job) ?? 0) ? Number(text) : undefined
}

export function indexFailures(pod: Pod): IndexFailures {
  const count = (name: string): number => {
    const text = pod.metadata.annotations?.[name] ?? '0'
    return /^[0-9]+$/.test(text) ? Number(text) : 0
  }
  return { counted: count(failureCountAnnotation), ignored: count(ignoredCountAnnotation) }
}

export function isTracked(pod: Pod): boolean {
  return pod.metadata.finalizers?.includes(trackingFinalizer) === true
}

/**
 * Returns true if the pod's end must be counted: it has the finalizer, and an index if the job is
 * indexed.
 */
export function isCountable(job: Job, pod: Pod): boolean {
  return isTracked(pod) && (!isIndexed(job) || completionIndex(job, pod) !== undefined)
}

export function hasSucceeded(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded'
}

export function hasFailed(job: Job, pod: Pod): boolean {
  if (pod.status?.phase === 'Failed') return true
  if (onlyReplacesFailed(job) || hasSucceeded(pod)) return false
  return pod.metadata.deletionTimestamp !== undefined
}

/** Returns when the pod ended, as precisely as its status shows. */
export function finishedMs(pod: Pod): number {
  const ends = (pod.status?.containerStatuses ?? []).map(
    ({ state }) => state?.terminated?.finishedAt,
  )
  if (ends.length > 0 && ends.every((end) => end)) {
    return Math.max(...ends.map((end) => Date.parse(end ?? '')))
  }
  const ready = podCondition(pod, 'Ready')
  if (ready?.status === 'False' && ready.lastTransitionTime) {
    return Date.parse(ready.lastTransitionTime)
  }
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, creationTimestamp } = pod.metadata
  if (deletionTimestamp) return Date.parse(deletionTimestamp) - deletionGracePeriodSeconds * 1000
  return Date.parse(creationTimestamp ?? '')
}
