import type {
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerCondition,
  HorizontalPodAutoscalerStatus,
  MetricStatus,
} from '@skerry/api'
import { timestamp } from '../status/timestamp.ts'
import type { MetricError, MetricProposal } from './metric-proposal.ts'
import {
  bound,
  boundWith,
  noMemory,
  remember,
  stabilize,
  stabilizeWith,
  type AutoscalerMemory,
  type Behavior,
} from './scaling-rules.ts'

export type ConditionText = Omit<HorizontalPodAutoscalerCondition, 'lastTransitionTime'>

/** The result of every metric, in the order of the spec. */
export type MetricResult = { readonly proposal: MetricProposal } | { readonly error: MetricError }

/** The combined result of the metrics. */
export interface MetricsVerdict {
  /** The wanted replicas, or undefined if nothing is decided. */
  readonly replicas: number | undefined
  readonly metric: string
  readonly statuses: MetricStatus[]
  readonly condition: ConditionText
  /** Names the metrics that failed, even if the others suffice. */
  readonly failure: string | undefined
}

/**
 * Returns the largest number that any metric proposes. While some fail, the others may only raise
 * the number, because the failed ones might have proposed the present one.
 */
export function judgeMetrics(
  results: readonly MetricResult[],
  specReplicas: number,
): MetricsVerdict {
  const errors = results.flatMap((result) => ('error' in result ? [result.error] : []))
  const proposals = results.flatMap((result) => ('proposal' in result ? [result.proposal] : []))
  let highest: MetricProposal | undefined
  for (const proposal of proposals) {
    if (!highest || highest.replicas === 0 || proposal.replicas > highest.replicas)
      highest = proposal
  }
  const statuses = results.map((result) =>
    'proposal' in result ? result.proposal.status : { type: '' },
  )
  const [first] = errors
  const failure =
    first &&
    `invalid metrics (${errors.length} invalid out of ${results.length}), first error is: ${first.message}`
  if (first && (!highest || highest.replicas < specReplicas)) {
    const message = `the HPA was unable to compute the replica count: ${first.detail}`
    const condition = falseCondition('ScalingActive', first.reason, message)
    return { replicas: undefined, metric: '', statuses, condition, failure }
  }
  const metric = highest?.name ?? ''
  return {
    replicas: highest?.replicas ?? 0,
    metric,
    statuses,
    condition: trueCondition(
      'ScalingActive',
      'ValidMetricFound',
      `the HPA was able to successfully calculate a replica count from ${metric}`,
    ),
    failure,
  }
}

/** The number of replicas, and its explanation. */
export interface ScalePlan {
  readonly replicas: number
  /** The reason for the event. It is empty if nothing changes. */
  readonly why: string
  readonly conditions: readonly ConditionText[]
  readonly memory: AutoscalerMemory
}

export interface PlanInput {
  readonly autoscaler: HorizontalPodAutoscaler
  readonly currentReplicas: number
  readonly memory: AutoscalerMemory | undefined
  readonly nowMs: number
}

/** Returns the plan if it does not depend on metrics, or undefined if they must be read. */
export function planWithoutMetrics(input: PlanInput): ScalePlan | undefined {
  const { autoscaler, currentReplicas } = input
  const { maxReplicas } = autoscaler.spec
  const minReplicas = minReplicasOf(autoscaler)
  const memory = initialMemory(input)
  if (currentReplicas === 0) {
    const message = 'scaling is disabled since the replica count of the target is zero'
    const condition = falseCondition('ScalingActive', 'ScalingDisabled', message)
    return { replicas: 0, why: '', conditions: [condition], memory }
  }
  if (currentReplicas > maxReplicas) {
    const why = 'Current number of replicas above Spec.MaxReplicas'
    return { replicas: maxReplicas, why, conditions: [], memory }
  }
  if (currentReplicas < minReplicas) {
    const why = 'Current number of replicas below Spec.MinReplicas'
    return { replicas: minReplicas, why, conditions: [], memory }
  }
  return undefined
}

/** Plans by the metrics, within bounds, windows and rates. */
export function planWithMetrics(
  input: PlanInput,
  { desired, metric }: { desired: number; metric: string },
): ScalePlan {
  const { autoscaler, currentReplicas, nowMs } = input
  const behavior = behaviorOf(autoscaler)
  const memory = initialMemory(input)
  const bounds = {
    currentReplicas,
    minReplicas: minReplicasOf(autoscaler),
    maxReplicas: autoscaler.spec.maxReplicas,
  }
  const stable = behavior
    ? stabilizeWith(desired, currentReplicas, { memory, behavior, nowMs })
    : stabilize(desired, memory, nowMs)
  const final = behavior
    ? boundWith(stable.replicas, bounds, { memory, behavior, nowMs })
    : bound(stable.replicas, bounds)
  const isStable = stable.replicas === desired
  const isFree = final.replicas === stable.replicas
  return {
    replicas: final.replicas,
    why: reasonOf(desired, currentReplicas, metric),
    conditions: [
      isStable
        ? trueCondition('AbleToScale', 'ReadyForNewScale', 'recommended size matches current size')
        : trueCondition('AbleToScale', stable.reason, stable.message),
      isFree
        ? falseCondition('ScalingLimited', final.reason, final.message)
        : trueCondition('ScalingLimited', final.reason, final.message),
    ],
    memory: remember(memory, { atMs: nowMs, replicas: desired }, behavior),
  }
}

function reasonOf(desired: number, current: number, metric: string): string {
  if (desired > current) return `${metric} above target`
  return desired < current ? 'All metrics below target' : ''
}

/** The first look counts the present number as recommended. */
function initialMemory({ memory, currentReplicas, nowMs }: PlanInput): AutoscalerMemory {
  if (memory) return memory
  return { ...noMemory, recommendations: [{ atMs: nowMs, replicas: currentReplicas }] }
}

function minReplicasOf({ spec }: HorizontalPodAutoscaler): number {
  return spec.minReplicas ?? 1
}

/**
 * Returns the behavior with both directions, as the API server's defaults fill them in, or
 * undefined if there is none.
 */
export function behaviorOf({ spec }: HorizontalPodAutoscaler): Behavior | undefined {
  const { scaleUp, scaleDown } = spec.behavior ?? {}
  return scaleUp && scaleDown ? { scaleUp, scaleDown } : undefined
}

export function trueCondition(type: string, reason: string, message: string): ConditionText {
  return { type, status: 'True', reason, message }
}

export function falseCondition(type: string, reason: string, message: string): ConditionText {
  return { type, status: 'False', reason, message }
}

/** Keeps conditions in the order in which they first came. The time changes only with the status. */
export function withConditions(
  before: readonly HorizontalPodAutoscalerCondition[],
  changes: readonly ConditionText[],
  nowMs: number,
): HorizontalPodAutoscalerCondition[] {
  const conditions = [...before]
  for (const change of changes) {
    const at = conditions.findIndex(({ type }) => type === change.type)
    const known = conditions[at]
    const isSame = known?.status === change.status && known.lastTransitionTime
    const lastTransitionTime = isSame ? known.lastTransitionTime : timestamp(nowMs)
    const next = { ...change, lastTransitionTime }
    if (known) conditions[at] = next
    else conditions.push(next)
  }
  return conditions
}

export interface StatusInput {
  readonly currentReplicas: number
  readonly desiredReplicas: number
  readonly metrics: readonly MetricStatus[]
  readonly conditions: HorizontalPodAutoscalerCondition[]
  readonly isRescaled: boolean
  readonly nowMs: number
}

export function statusOf(
  before: HorizontalPodAutoscalerStatus | undefined,
  input: StatusInput,
): HorizontalPodAutoscalerStatus {
  const { currentReplicas, desiredReplicas, metrics, conditions, isRescaled, nowMs } = input
  const lastScaleTime = isRescaled ? timestamp(nowMs) : before?.lastScaleTime
  return {
    currentReplicas,
    desiredReplicas,
    conditions,
    ...(metrics.length > 0 ? { currentMetrics: [...metrics] } : {}),
    ...(lastScaleTime === undefined ? {} : { lastScaleTime }),
  }
}
