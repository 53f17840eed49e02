import type { Pod } from '@skerry/api'
import { keyOfObject, parseKey, type ResourceClient } from '@skerry/client'
import { ignoreNotFound } from '../reconcile/ignore-not-found.ts'
import { timestamp } from '../status/timestamp.ts'
import { isPodFinished, podCondition } from './pod-state.ts'

export interface DisruptionText {
  readonly reason: 'DeletionByTaintManager' | 'DeletionByDeviceTaintManager' | 'DeletionByPodGC'
  readonly message: string
  /** True if the pod will never report its end itself. */
  readonly isFailed?: boolean
  readonly nowMs: number
}

/** Records why a pod is deleted before deleting it, because a job's policy may need the reason. */
export async function markDisrupted(
  pod: Pod,
  { reason, message, isFailed, nowMs }: DisruptionText,
  pods: ResourceClient<Pod>,
  signal: AbortSignal,
): Promise<void> {
  if (isPodFinished(pod) || podCondition(pod, 'DisruptionTarget')?.status === 'True') return
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason,
    message,
    // Upstream's device taint controller does not record the generation.
    ...(reason === 'DeletionByDeviceTaintManager'
      ? {}
      : { observedGeneration: pod.metadata.generation }),
    lastTransitionTime: timestamp(nowMs),
  }
  const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== condition.type)
  const status = {
    // The condition comes last; a merge would put it first.
    '$setElementOrder/conditions': [...others, condition].map(({ type }) => ({ type })),
    conditions: [condition],
    ...(isFailed === true ? { phase: 'Failed' } : {}),
  }
  const patch = { metadata: { uid: pod.metadata.uid }, status }
  const request = { ...parseKey(keyOfObject(pod)), type: 'strategic' as const, patch }
  await ignoreNotFound(pods.patchStatus(request, signal))
}
