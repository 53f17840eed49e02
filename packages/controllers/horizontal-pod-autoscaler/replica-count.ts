import type { PodGroups, PodMetric, PodMetrics } from './pod-metrics.ts'
import { autoscalerDefaults } from '../limits-table.ts'

/** How far usage may be off its target before anything changes; 0.1 is ten percent. */
export interface Tolerances {
  readonly down: number
  readonly up: number
}

export interface Measurement {
  readonly replicas: number
  /** The displayed current value, in thousandths. */
  readonly milli: number
  /** For utilization only: the percentage of the request. */
  readonly percent?: number
}

/** The existing figures relative to their target. */
interface Ratio {
  /** Usage divided by target; 1 is on target. */
  readonly ratio: number
  readonly milli: number
  readonly percent?: number
}

export interface CountInput {
  readonly currentReplicas: number
  readonly metrics: PodMetrics
  readonly groups: PodGroups
  readonly tolerances: Tolerances
}

const noFigures = 'did not receive metrics for targeted pods (pods might be unready)'

/**
 * Returns the replicas with which the pods use `targetPercent` of their requests on average. Throws
 * if there are not enough figures.
 */
export function replicasForUtilization(
  input: CountInput,
  asked: { requests: () => ReadonlyMap<string, number>; targetPercent: number },
): Measurement {
  const { targetPercent } = asked
  let known: ReadonlyMap<string, number> | undefined
  // Requests are read only once there are figures, because missing figures are reported first.
  const requests = (): ReadonlyMap<string, number> => (known ??= asked.requests())
  const ratioOf = (metrics: PodMetrics): Ratio => utilization(metrics, requests(), targetPercent)
  // When scaling down, a pod without figures counts as if it used its whole request, or the target.
  const fallback = Math.max(100, targetPercent)
  const assume = (name: string): number =>
    Math.trunc(((requests().get(name) ?? 0) * fallback) / 100)
  return measure(input, ratioOf, assume)
}

/**
 * Returns the replicas with which the pods have `targetMilli` each on average. Throws if there are
 * not enough figures.
 */
export function replicasForAverage(input: CountInput, targetMilli: number): Measurement {
  const ratioOf = (metrics: PodMetrics): Ratio => {
    let total = 0
    for (const { milli } of metrics.values()) total += milli
    const average = Math.trunc(total / metrics.size)
    return { ratio: average / targetMilli, milli: average }
  }
  return measure(input, ratioOf, () => targetMilli)
}

/** Returns the replicas for one figure of the whole. Calls `readyCount` only if it matters. */
export function replicasForValue(
  currentReplicas: number,
  ratio: number,
  tolerances: Tolerances,
  readyCount: () => number,
): number {
  if (currentReplicas === 0) return Math.ceil(ratio)
  if (isWithin(ratio, tolerances)) return currentReplicas
  return Math.min(autoscalerDefaults.replicasMax, Math.ceil(ratio * readyCount()))
}

/** Returns the replicas for one figure of the whole, of which each pod should have `targetMilli`. */
export function replicasForShare(
  statusReplicas: number,
  milli: number,
  targetMilli: number,
  tolerances: Tolerances,
): Measurement {
  const ratio = milli / (targetMilli * statusReplicas)
  const wanted = Math.min(autoscalerDefaults.replicasMax, Math.ceil(milli / targetMilli))
  return {
    replicas: isWithin(ratio, tolerances) ? statusReplicas : wanted,
    milli: statusReplicas === 0 ? milli : Math.ceil(milli / statusReplicas),
  }
}

function isWithin(ratio: number, { down, up }: Tolerances): boolean {
  return 1 - down <= ratio && ratio <= 1 + up
}

function utilization(
  metrics: PodMetrics,
  requests: ReadonlyMap<string, number>,
  targetPercent: number,
): Ratio {
  let used = 0
  let requested = 0
  let count = 0
  for (const [name, { milli }] of metrics) {
    const request = requests.get(name)
    if (request === undefined) continue
    used += milli
    requested += request
    count += 1
  }
  if (requested === 0) throw new RangeError('no metrics returned matched known pods')
  const percent = Math.trunc((used * 100) / requested)
  return { ratio: percent / targetPercent, percent, milli: Math.trunc(used / count) }
}

/**
 * Measures the counted figures, and again with careful guesses for missing ones. A guess may reduce
 * a change, but never reverses it.
 */
function measure(
  { currentReplicas, metrics, groups, tolerances }: CountInput,
  ratioOf: (metrics: PodMetrics) => Ratio,
  assumeOnTheWayDown: (podName: string) => number,
): Measurement {
  const { unready, missing, ignored, readyCount } = groups
  const counted = new Map([...metrics].filter(([name]) => !ignored.has(name) && !unready.has(name)))
  if (counted.size === 0) throw new RangeError(noFigures)
  const { ratio, ...shown } = ratioOf(counted)
  const stay: Measurement = { replicas: currentReplicas, ...shown }
  const isUpWithUnready = unready.size > 0 && ratio > 1
  if (!isUpWithUnready && missing.size === 0) {
    if (isWithin(ratio, tolerances)) return stay
    return { replicas: Math.ceil(ratio * readyCount), ...shown }
  }
  const guessed = new Map<string, PodMetric>(counted)
  const guess = (name: string, milli: number): void =>
    void guessed.set(name, { atMs: 0, windowMs: 0, milli })
  for (const name of missing) {
    if (ratio < 1) guess(name, assumeOnTheWayDown(name))
    else if (ratio > 1) guess(name, 0)
  }
  if (isUpWithUnready) for (const name of unready) guess(name, 0)
  const careful = ratioOf(guessed).ratio
  const isTurned = (ratio < 1 && careful > 1) || (ratio > 1 && careful < 1)
  if (isWithin(careful, tolerances) || isTurned) return stay
  const replicas = Math.ceil(careful * guessed.size)
  const isAgainst =
    (careful < 1 && replicas > currentReplicas) || (careful > 1 && replicas < currentReplicas)
  return isAgainst ? stay : { replicas, ...shown }
}
