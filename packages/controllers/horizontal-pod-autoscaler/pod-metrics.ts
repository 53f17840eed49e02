import type { Pod } from '@skerry/api'
import { podCondition } from '../pods/pod-state.ts'
import { autoscalerDefaults } from '../limits-table.ts'

/** One pod's figure, in thousandths. */
export interface PodMetric {
  readonly atMs: number
  readonly windowMs: number
  readonly milli: number
}

/** Figures by pod name. */
export type PodMetrics = ReadonlyMap<string, PodMetric>

export interface PodGroups {
  readonly readyCount: number
  /** Pods whose figures are not meaningful yet. */
  readonly unready: ReadonlySet<string>
  /** Pods that should have figures but have none. */
  readonly missing: ReadonlySet<string>
  /** Pods that are terminating or failed. */
  readonly ignored: ReadonlySet<string>
}

/** Determines which pods' figures count. If `isCpu`, figures of a pod that is still starting are left out. */
export function groupPods(
  pods: readonly Pod[],
  metrics: PodMetrics,
  isCpu: boolean,
  nowMs: number,
): PodGroups {
  const groups = {
    unready: new Set<string>(),
    missing: new Set<string>(),
    ignored: new Set<string>(),
  }
  let readyCount = 0
  for (const pod of pods) {
    const name = pod.metadata.name ?? ''
    const metric = metrics.get(name)
    if (pod.metadata.deletionTimestamp !== undefined || pod.status?.phase === 'Failed') {
      groups.ignored.add(name)
    } else if (pod.status?.phase === 'Pending') groups.unready.add(name)
    else if (!metric) groups.missing.add(name)
    else if (isCpu && isStarting(pod, metric, nowMs)) groups.unready.add(name)
    else readyCount += 1
  }
  return { ...groups, readyCount }
}

function isStarting(pod: Pod, metric: PodMetric, nowMs: number): boolean {
  const ready = podCondition(pod, 'Ready')
  const startTime = pod.status?.startTime
  if (!ready || startTime === undefined) return true
  const startedMs = Date.parse(startTime)
  const changedMs = Date.parse(ready.lastTransitionTime ?? startTime)
  const isUnready = ready.status === 'False'
  if (startedMs + autoscalerDefaults.cpuInitializationMs > nowMs) {
    // A whole window must have passed since the pod became ready.
    return isUnready || metric.atMs < changedMs + metric.windowMs
  }
  return isUnready && startedMs + autoscalerDefaults.initialReadinessMs > changedMs
}
