import { isJsonObject, type JsonObject, type KubeObject } from '@skerry/api'
import {
  metricStatusToVersion1,
  metricStatusToVersion2,
  metricToVersion1,
  metricToVersion2,
} from './metric-versions.ts'

/** The annotations in which version 1 keeps what it has no fields for. */
const metricsAnnotation = 'autoscaling.alpha.kubernetes.io/metrics'
const behaviorAnnotation = 'autoscaling.alpha.kubernetes.io/behavior'
const conditionsAnnotation = 'autoscaling.alpha.kubernetes.io/conditions'
const currentMetricsAnnotation = 'autoscaling.alpha.kubernetes.io/current-metrics'
const annotationNames = [
  metricsAnnotation,
  behaviorAnnotation,
  conditionsAnnotation,
  currentMetricsAnnotation,
  'autoscaling.alpha.kubernetes.io/scale-up-tolerance',
  'autoscaling.alpha.kubernetes.io/scale-down-tolerance',
]

const utilizationDefault = 80

/** An autoscaler of either version. */
interface Autoscaler extends KubeObject {
  spec?: unknown
  status?: unknown
}

/**
 * Converts autoscaling/v1 to v2, in place; the caller sets apiVersion. An autoscaler without
 * metrics gets one.
 */
export function autoscalerToVersion2(autoscaler: Autoscaler): void {
  const annotations = takeAnnotations(autoscaler)
  const { targetCPUUtilizationPercentage: target, ...spec } = recordOf(autoscaler.spec)
  const { currentCPUUtilizationPercentage: current, ...status } = recordOf(autoscaler.status)
  const metrics = listIn(annotations.get(metricsAnnotation), metricToVersion2) ?? []
  if (typeof target === 'number') metrics.push(cpuTarget(target))
  spec['metrics'] = metrics.length > 0 ? metrics : [cpuTarget(utilizationDefault)]
  const behavior = behaviorIn(annotations.get(behaviorAnnotation))
  if (behavior) spec['behavior'] = behavior
  const currentMetrics = listIn(annotations.get(currentMetricsAnnotation), metricStatusToVersion2)
  if (currentMetrics && currentMetrics.length > 0) status['currentMetrics'] = currentMetrics
  else status['currentMetrics'] = typeof current === 'number' ? [cpuStatus(current)] : null
  const conditions = listIn(annotations.get(conditionsAnnotation), (condition) => condition) ?? []
  if (conditions.length > 0) status['conditions'] = conditions
  if (status['currentReplicas'] === 0) delete status['currentReplicas']
  Object.assign(autoscaler, { spec, status })
}

/** Converts autoscaling/v2 to v1, in place; the caller sets apiVersion. */
export function autoscalerFromVersion2(autoscaler: Autoscaler): void {
  takeAnnotations(autoscaler)
  const { metrics, behavior, ...spec } = recordOf(autoscaler.spec)
  const { conditions, currentMetrics, ...status } = recordOf(autoscaler.status)
  const all = recordsIn(metrics)
  const target = all.map(targetOf).find((each) => each !== undefined)
  if (target !== undefined) spec['targetCPUUtilizationPercentage'] = target
  const others = all.filter((metric) => targetOf(metric) === undefined).map(metricToVersion1)
  const statuses = recordsIn(currentMetrics)
  const current = statuses.map(currentOf).findLast((each) => each !== undefined)
  if (current !== undefined) status['currentCPUUtilizationPercentage'] = current
  status['currentReplicas'] ??= 0
  if (others.length > 0) annotate(autoscaler, metricsAnnotation, others)
  if (statuses.length > 0) {
    annotate(autoscaler, currentMetricsAnnotation, statuses.map(metricStatusToVersion1))
  }
  if (isJsonObject(behavior)) annotate(autoscaler, behaviorAnnotation, shownBehavior(behavior))
  const seen = recordsIn(conditions)
  if (seen.length > 0) annotate(autoscaler, conditionsAnnotation, seen.map(shownCondition))
  Object.assign(autoscaler, { spec, status })
}

function cpuTarget(averageUtilization: number): JsonObject {
  const target = { type: 'Utilization', averageUtilization }
  return { type: 'Resource', resource: { name: 'cpu', target } }
}

function cpuStatus(averageUtilization: number): JsonObject {
  return { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization } } }
}

function targetOf(metric: JsonObject): number | undefined {
  return utilizationOf(metric, 'target')
}

function currentOf(metric: JsonObject): number | undefined {
  return utilizationOf(metric, 'current')
}

/** Returns the utilization of a metric that version 1 has a field for. */
function utilizationOf(
  { type, resource }: JsonObject,
  side: 'target' | 'current',
): number | undefined {
  if (type !== 'Resource' || !isJsonObject(resource) || resource['name'] !== 'cpu') return undefined
  const value = resource[side]
  const utilization = isJsonObject(value) ? value['averageUtilization'] : undefined
  return typeof utilization === 'number' ? utilization : undefined
}

function shownCondition(condition: JsonObject): JsonObject {
  const { type = '', status = '', lastTransitionTime = null, reason, message } = condition
  return { type, status, lastTransitionTime, reason, message }
}

/** Upstream writes the fields of its internal type, by their names in Go. */
function shownBehavior({ scaleUp, scaleDown }: JsonObject): JsonObject {
  return { ScaleUp: shownRules(scaleUp), ScaleDown: shownRules(scaleDown) }
}

function shownRules(rules: unknown): JsonObject | null {
  if (!isJsonObject(rules)) return null
  const { stabilizationWindowSeconds, selectPolicy, policies, tolerance } = rules
  const shown = recordsIn(policies).map(({ type = '', value = 0, periodSeconds = 0 }) => ({
    Type: type,
    Value: value,
    PeriodSeconds: periodSeconds,
  }))
  return {
    StabilizationWindowSeconds: stabilizationWindowSeconds ?? null,
    SelectPolicy: selectPolicy ?? null,
    Policies: shown.length > 0 ? shown : null,
    Tolerance: tolerance ?? null,
  }
}

/** Returns undefined if the text is not a behavior, or an empty one. */
function behaviorIn(text: string | undefined): JsonObject | undefined {
  const behavior = parsed(text)
  if (!isJsonObject(behavior)) return undefined
  const result = withLowerKeys(behavior)
  return isJsonObject(result) && Object.keys(result).length > 0 ? result : undefined
}

function withLowerKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withLowerKeys)
  if (!isJsonObject(value)) return value
  const entries = Object.entries(value)
    .filter(([, member]) => member !== null)
    .map(([key, member]) => [key.slice(0, 1).toLowerCase() + key.slice(1), withLowerKeys(member)])
  return Object.fromEntries(entries)
}

/** Returns undefined if the text is not such a list: an annotation may contain anything. */
function listIn(
  text: string | undefined,
  change: (item: JsonObject) => JsonObject,
): JsonObject[] | undefined {
  const list = parsed(text)
  if (!Array.isArray(list)) return undefined
  try {
    return recordsIn(list).map(change)
  } catch {
    // An amount in the list is invalid.
    return undefined
  }
}

function parsed(text: string | undefined): unknown {
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function takeAnnotations({ metadata }: Autoscaler): ReadonlyMap<string, string> {
  const taken = new Map<string, string>()
  const { annotations } = metadata
  if (!annotations) return taken
  for (const name of annotationNames) {
    const text = annotations[name]
    if (text === undefined) continue
    taken.set(name, text)
    delete annotations[name]
  }
  if (taken.size > 0 && Object.keys(annotations).length === 0) delete metadata.annotations
  return taken
}

function annotate({ metadata }: Autoscaler, name: string, value: unknown): void {
  metadata.annotations = { ...metadata.annotations, [name]: goJson(value) }
}

/** Go escapes these characters so that JSON can be part of HTML. */
function goJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function recordOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {}
}

function recordsIn(list: unknown): JsonObject[] {
  return Array.isArray(list) ? list.filter(isJsonObject) : []
}
