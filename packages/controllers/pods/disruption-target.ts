import type { Pod } from '@skerry/api'
import { keyOfObject, parseKey, type ResourceClient } from '@skerry/client'
import { ignoreNotFound } from '../reconcile/ignore-not-found.ts'
import { timestamp } from '../status/timestamp.ts'
import { isPodFinished, podCondition } from './pod-state.ts'

export interface DisruptionText {
  readonly reason: 'DeletionByTaintManager' | 'DeletionByDeviceTaintManager' | 'DeletionByPodGC'
  readonly message: string
  /** The pod will never report its end itself. */
  readonly isFailed?: boolean
  readonly nowMs: number
}

/** Says why a pod goes before it is deleted: a job's policy may ask for it. */
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
    // As upstream: who looks at devices does not say of which generation.
    ...(reason === 'DeletionByDeviceTaintManager'
      ? {}
      : { observedGeneration: pod.metadata.generation }),
    lastTransitionTime: timestamp(nowMs),
  }
  const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== condition.type)
  const status = {
    // It comes last: a merge would put it first.
    '$setElementOrder/conditions': [...others, condition].map(({ type }) => ({ type })),
    conditions: [condition],
    ...(isFailed === true ? { phase: 'Failed' } : {}),
  }
  const patch = { metadata: { uid: pod.metadata.uid }, status }
  const request = { ...parseKey(keyOfObject(pod)), type: 'strategic' as const, patch }
  await ignoreNotFound(pods.patchStatus(request, signal))
}
