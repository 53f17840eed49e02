import type { HPAScalingRules } from '@skerry/api'
import { autoscalerDefaults } from '../limits-table.ts'

/** The wanted replicas at a time, before any limits. */
export interface Recommendation {
  readonly atMs: number
  readonly replicas: number
}

export interface ScaleEvent {
  readonly atMs: number
  /** How many pods were added or removed. */
  readonly change: number
}

/** The controller's memory of one autoscaler. It is lost at a restart, as upstream's. */
export interface AutoscalerMemory {
  readonly recommendations: readonly Recommendation[]
  readonly ups: readonly ScaleEvent[]
  readonly downs: readonly ScaleEvent[]
}

export const noMemory: AutoscalerMemory = Object.freeze({
  recommendations: Object.freeze([]),
  ups: Object.freeze([]),
  downs: Object.freeze([]),
})

export interface ScalingBounds {
  readonly currentReplicas: number
  readonly minReplicas: number
  readonly maxReplicas: number
}

export interface Behavior {
  readonly scaleUp: HPAScalingRules
  readonly scaleDown: HPAScalingRules
}

/** A number of replicas, and the reason for any limit applied to it. */
export interface Bounded {
  readonly replicas: number
  readonly reason: string
  readonly message: string
}

const lowered =
  'recent recommendations were higher than current one, applying the highest recent recommendation'
const raised =
  'recent recommendations were lower than current one, applying the lowest recent recommendation'

/** Returns the highest recommendation of the last minutes: a dip must last before pods are removed. */
export function stabilize(
  desired: number,
  { recommendations }: AutoscalerMemory,
  nowMs: number,
): Bounded {
  const sinceMs = nowMs - autoscalerDefaults.downscaleStabilizationSeconds * 1000
  const recent = recommendations.filter(({ atMs }) => atMs >= sinceMs)
  const replicas = Math.max(desired, ...recent.map((one) => one.replicas))
  return { replicas, reason: 'ScaleDownStabilized', message: lowered }
}

/** Does the same with separate windows for each direction. */
export function stabilizeWith(
  desired: number,
  current: number,
  { memory, behavior, nowMs }: { memory: AutoscalerMemory; behavior: Behavior; nowMs: number },
): Bounded {
  const within = (rules: HPAScalingRules): number[] =>
    memory.recommendations
      .filter(({ atMs }) => atMs > nowMs - windowSeconds(rules) * 1000)
      .map(({ replicas }) => replicas)
  const up = Math.min(desired, ...within(behavior.scaleUp))
  const down = Math.max(desired, ...within(behavior.scaleDown))
  const replicas = Math.min(Math.max(current, up), down)
  return desired >= current
    ? { replicas, reason: 'ScaleUpStabilized', message: raised }
    : { replicas, reason: 'ScaleDownStabilized', message: lowered }
}

function windowSeconds({ stabilizationWindowSeconds }: HPAScalingRules): number {
  return stabilizationWindowSeconds ?? autoscalerDefaults.downscaleStabilizationSeconds
}

const tooFast = 'the desired replica count is increasing faster than the maximum scale rate'
const tooSlow = 'the desired replica count is decreasing faster than the maximum scale rate'
const tooMany = 'the desired replica count is more than the maximum replica count'
const tooFew = 'the desired replica count is less than the minimum replica count'
const inRange = 'the desired count is within the acceptable range'

/** Limits the number to the minimum and maximum, and to twice as many at once. */
export function bound(desired: number, bounds: ScalingBounds): Bounded {
  const { currentReplicas, minReplicas, maxReplicas } = bounds
  const { scaleUpFactor, scaleUpMin } = autoscalerDefaults
  const limit = Math.max(scaleUpFactor * currentReplicas, scaleUpMin)
  if (desired < minReplicas) {
    return { replicas: minReplicas, reason: 'TooFewReplicas', message: tooFew }
  }
  if (desired > Math.min(limit, maxReplicas)) {
    return maxReplicas > limit
      ? { replicas: limit, reason: 'ScaleUpLimit', message: tooFast }
      : { replicas: maxReplicas, reason: 'TooManyReplicas', message: tooMany }
  }
  return { replicas: desired, reason: 'DesiredWithinRange', message: inRange }
}

/** Limits the number to the minimum and maximum, and to the rates of the behavior's policies. */
export function boundWith(
  desired: number,
  bounds: ScalingBounds,
  { memory, behavior, nowMs }: { memory: AutoscalerMemory; behavior: Behavior; nowMs: number },
): Bounded {
  const { currentReplicas, minReplicas, maxReplicas } = bounds
  if (desired > currentReplicas) {
    const allowed = upLimit(currentReplicas, memory, behavior.scaleUp, nowMs)
    const limit = Math.max(allowed, currentReplicas)
    if (desired > Math.min(limit, maxReplicas)) {
      return maxReplicas > limit
        ? { replicas: limit, reason: 'ScaleUpLimit', message: tooFast }
        : { replicas: maxReplicas, reason: 'TooManyReplicas', message: tooMany }
    }
  } else if (desired < currentReplicas) {
    const allowed = downLimit(currentReplicas, memory, behavior.scaleDown, nowMs)
    const limit = Math.min(allowed, currentReplicas)
    if (desired < Math.max(limit, minReplicas)) {
      return minReplicas < limit
        ? { replicas: limit, reason: 'ScaleDownLimit', message: tooSlow }
        : { replicas: minReplicas, reason: 'TooFewReplicas', message: tooFew }
    }
  }
  return { replicas: desired, reason: 'DesiredWithinRange', message: inRange }
}

function upLimit(
  current: number,
  memory: AutoscalerMemory,
  rules: HPAScalingRules,
  nowMs: number,
): number {
  if (rules.selectPolicy === 'Disabled') return current
  const proposals = (rules.policies ?? []).map(({ type, value, periodSeconds }) => {
    const start = replicasAtStart(current, memory, periodSeconds, nowMs)
    return type === 'Pods' ? start + value : Math.ceil(start * (1 + value / 100))
  })
  return rules.selectPolicy === 'Min' ? Math.min(...proposals) : Math.max(...proposals)
}

function downLimit(
  current: number,
  memory: AutoscalerMemory,
  rules: HPAScalingRules,
  nowMs: number,
): number {
  if (rules.selectPolicy === 'Disabled') return current
  const proposals = (rules.policies ?? []).map(({ type, value, periodSeconds }) => {
    const start = replicasAtStart(current, memory, periodSeconds, nowMs)
    return type === 'Pods' ? start - value : Math.trunc(start * (1 - value / 100))
  })
  // The smallest change is the one that keeps the most.
  return rules.selectPolicy === 'Min' ? Math.max(...proposals) : Math.min(...proposals)
}

function replicasAtStart(
  current: number,
  { ups, downs }: AutoscalerMemory,
  periodSeconds: number,
  nowMs: number,
): number {
  const changes = (events: readonly ScaleEvent[]): number =>
    events
      .filter(({ atMs }) => atMs > nowMs - periodSeconds * 1000)
      .reduce((sum, { change }) => sum + change, 0)
  return current - changes(ups) + changes(downs)
}

/** Adds this recommendation and drops those that no window reaches any more. */
export function remember(
  memory: AutoscalerMemory,
  recommendation: Recommendation,
  behavior: Behavior | undefined,
): AutoscalerMemory {
  const windows: number[] = [autoscalerDefaults.downscaleStabilizationSeconds]
  if (behavior) windows.push(windowSeconds(behavior.scaleUp), windowSeconds(behavior.scaleDown))
  const sinceMs = recommendation.atMs - Math.max(...windows) * 1000
  const recommendations = memory.recommendations.filter(({ atMs }) => atMs >= sinceMs)
  return { ...memory, recommendations: [...recommendations, recommendation] }
}

/** Adds an executed change of the replicas; only policies use it. */
export function rememberScale(
  memory: AutoscalerMemory,
  change: { from: number; to: number; atMs: number },
  behavior: Behavior | undefined,
): AutoscalerMemory {
  if (!behavior) return memory
  const { from, to, atMs } = change
  const isUp = to > from
  const policies = [...(behavior.scaleUp.policies ?? []), ...(behavior.scaleDown.policies ?? [])]
  const periods = policies.map(({ periodSeconds }) => periodSeconds)
  const sinceMs = atMs - Math.max(0, ...periods) * 1000
  const recent = (events: readonly ScaleEvent[]): ScaleEvent[] =>
    events.filter((event) => event.atMs > sinceMs)
  const event = { atMs, change: Math.abs(to - from) }
  return {
    ...memory,
    ups: isUp ? [...recent(memory.ups), event] : recent(memory.ups),
    downs: isUp ? recent(memory.downs) : [...recent(memory.downs), event],
  }
}
