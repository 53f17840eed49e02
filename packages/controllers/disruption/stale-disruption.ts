import type { Pod } from '@skerry/api'
import { parseKey, resources } from '@skerry/client'
import type { ControllerContext, ReconcileResult } from '@skerry/controller-runtime'
import { ignoreNotFound } from '../reconcile/ignore-not-found.ts'
import { isPodFinished, podCondition } from '../pods/pod-state.ts'
import { timestamp } from '../status/timestamp.ts'
import { controllerBounds } from '../limits-table.ts'

const { staleMs } = controllerBounds.staleDisruption

/**
 * Returns the time until the pod's DisruptionTarget is outdated, 0 if it is, and undefined if there
 * is none.
 */
export function staleInMs(pod: Pod, nowMs: number): number | undefined {
  const condition = podCondition(pod, 'DisruptionTarget')
  if (condition?.status !== 'True' || condition.reason === 'TerminationByKubelet') return undefined
  if (pod.metadata.deletionTimestamp !== undefined || isPodFinished(pod)) return undefined
  return Math.max(0, Date.parse(condition.lastTransitionTime ?? '') + staleMs - nowMs) || 0
}

export async function resetStaleDisruption(
  key: string,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<ReconcileResult | void> {
  const pod = context.informer(resources.pods).get(parseKey(key))
  const inMs = pod && staleInMs(pod, context.clock.now())
  if (pod === undefined || inMs === undefined) return
  if (inMs > 0) return { requeueAfterMs: inMs }
  const condition = {
    type: 'DisruptionTarget',
    status: 'False',
    reason: null,
    message: null,
    observedGeneration: pod.metadata.generation,
    lastTransitionTime: timestamp(context.clock.now()),
  }
  const patch = { metadata: { uid: pod.metadata.uid }, status: { conditions: [condition] } }
  const pods = context.client(resources.pods)
  await ignoreNotFound(pods.patchStatus({ ...parseKey(key), type: 'strategic', patch }, signal))
}
