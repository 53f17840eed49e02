import type { Pod, PodCondition } from '@skerry/api'

/** Returns true if the pod still counts as a replica: it is neither finished nor being deleted. */
export function isPodActive(pod: Pod): boolean {
  return !isPodFinished(pod) && pod.metadata.deletionTimestamp === undefined
}

export function isPodFinished(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'
}

/** Returns true if the pod is being deleted and parts of it may still run. */
export function isPodTerminating(pod: Pod): boolean {
  return !isPodFinished(pod) && pod.metadata.deletionTimestamp !== undefined
}

export function podCondition(pod: Pod, type: string): PodCondition | undefined {
  return pod.status?.conditions?.find((condition) => condition.type === type)
}

export function isPodReady(pod: Pod): boolean {
  return podCondition(pod, 'Ready')?.status === 'True'
}

/** Returns milliseconds since the epoch, or undefined if the pod is not ready or its time is not recorded. */
export function readySinceMs(pod: Pod): number | undefined {
  const ready = podCondition(pod, 'Ready')
  return ready?.status === 'True' && ready.lastTransitionTime
    ? Date.parse(ready.lastTransitionTime)
    : undefined
}

/** Returns true if the pod was ready for at least `minReadySeconds`. */
export function isPodAvailable(pod: Pod, minReadySeconds: number, nowMs: number): boolean {
  if (!isPodReady(pod)) return false
  if (minReadySeconds === 0) return true
  const sinceMs = readySinceMs(pod)
  return sinceMs !== undefined && sinceMs + minReadySeconds * 1000 <= nowMs
}

/** Returns how long until the next of these pods becomes available without any change. */
export function nextAvailabilityMs(
  pods: readonly Pod[],
  minReadySeconds: number,
  nowMs: number,
): number | undefined {
  if (minReadySeconds === 0) return undefined
  let nextMs: number | undefined
  for (const pod of pods) {
    const sinceMs = readySinceMs(pod)
    if (sinceMs === undefined) continue
    const inMs = sinceMs + minReadySeconds * 1000 - nowMs
    if (inMs > 0 && (nextMs === undefined || inMs < nextMs)) nextMs = inMs
  }
  return nextMs
}
