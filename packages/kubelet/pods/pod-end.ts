import type { Pod, PodStatus } from '@skerry/api'
import { gracePeriodSeconds, specOf } from '../pod/pod-spec.ts'

export interface EndInput {
  pod: Pod
  /** True if the pod is no longer in the API, or its manifest is gone. */
  isRemoved: boolean
  /** The last status known. */
  previous: PodStatus
  nowMs: number
}

export interface PodEnd {
  graceSeconds: number
  failure?: { reason: string; message: string }
}

/** Returns undefined if the pod should run. */
export function endOfPod({ pod, isRemoved, previous, nowMs }: EndInput): PodEnd | undefined {
  const graceSeconds = gracePeriodSeconds(pod)
  if (isRemoved || pod.metadata.deletionTimestamp) return { graceSeconds }
  const phase = pod.status?.phase ?? previous.phase
  if (phase === 'Failed' || phase === 'Succeeded') return { graceSeconds }
  const deadline = deadlineMs(pod, previous)
  if (deadline === undefined || nowMs < deadline) return undefined
  return {
    graceSeconds,
    failure: {
      reason: 'DeadlineExceeded',
      message: 'Pod was active on the node longer than the specified deadline',
    },
  }
}

/** Returns the time at which activeDeadlineSeconds runs out. */
export function deadlineMs(pod: Pod, status: PodStatus): number | undefined {
  const seconds = specOf(pod).activeDeadlineSeconds
  const startTime = status.startTime ?? pod.status?.startTime
  if (seconds === undefined || startTime === undefined) return undefined
  return Date.parse(startTime) + seconds * 1000
}
