import {
  claimFromV1,
  claimTemplateFromV1,
  claimTemplateToV1,
  claimToV1,
  isJsonObject,
  sliceFromV1,
  sliceToV1,
  type AnyObject,
  type JsonObject,
} from '@skerry/api'

/** Between a served version and the stored one, in place; apiVersion is the caller's. */
export interface Conversion {
  readonly toStorage: (object: AnyObject) => void
  readonly fromStorage: (object: AnyObject) => void
}

/** What one group's Event calls the core group's fields. */
const eventNames: readonly (readonly [events: string, core: string])[] = [
  ['regarding', 'involvedObject'],
  ['note', 'message'],
  ['reportingController', 'reportingComponent'],
  ['deprecatedSource', 'source'],
  ['deprecatedFirstTimestamp', 'firstTimestamp'],
  ['deprecatedLastTimestamp', 'lastTimestamp'],
  ['deprecatedCount', 'count'],
]

/** Keyed `apiVersion/Kind`. Versions that differ in nothing but apiVersion need no entry. */
export const conversions: Readonly<Record<string, Conversion>> = Object.freeze({
  'events.k8s.io/v1/Event': {
    toStorage: (event) => rename(event, eventNames, 'toCore'),
    fromStorage: (event) => rename(event, eventNames, 'fromCore'),
  },
  'autoscaling/v1/HorizontalPodAutoscaler': {
    toStorage: autoscalerToStorage,
    fromStorage: autoscalerFromStorage,
  },
  'resource.k8s.io/v1beta1/ResourceClaim': { toStorage: claimToV1, fromStorage: claimFromV1 },
  'resource.k8s.io/v1beta1/ResourceClaimTemplate': {
    toStorage: claimTemplateToV1,
    fromStorage: claimTemplateFromV1,
  },
  'resource.k8s.io/v1beta1/ResourceSlice': { toStorage: sliceToV1, fromStorage: sliceFromV1 },
})

function rename(
  object: JsonObject,
  names: readonly (readonly [string, string])[],
  direction: 'toCore' | 'fromCore',
): void {
  for (const [events, core] of names) {
    const [from, to] = direction === 'toCore' ? [events, core] : [core, events]
    const value = object[from]
    delete object[from]
    if (value !== undefined) object[to] = value
  }
}

/** Where version 1 keeps what it has no fields for. */
const metricsAnnotation = 'autoscaling.alpha.kubernetes.io/metrics'
const behaviorAnnotation = 'autoscaling.alpha.kubernetes.io/behavior'
const conditionsAnnotation = 'autoscaling.alpha.kubernetes.io/conditions'
const currentMetricsAnnotation = 'autoscaling.alpha.kubernetes.io/current-metrics'

function autoscalerToStorage(object: AnyObject): void {
  const spec = recordOf(object, 'spec')
  const status = recordOf(object, 'status')
  const { targetCPUUtilizationPercentage: target, ...restOfSpec } = spec
  const { currentCPUUtilizationPercentage: current, ...restOfStatus } = status
  const metrics = takeList(object, metricsAnnotation)
  const behavior = take(object, behaviorAnnotation)
  const conditions = takeList(object, conditionsAnnotation)
  const currentMetrics = takeList(object, currentMetricsAnnotation)
  if (typeof target === 'number') {
    metrics.unshift(cpuMetric({ target: { type: 'Utilization', averageUtilization: target } }))
  }
  if (typeof current === 'number') {
    currentMetrics.unshift(cpuMetric({ current: { averageUtilization: current } }))
  }
  object['spec'] = {
    ...restOfSpec,
    ...(metrics.length > 0 ? { metrics } : {}),
    ...(isJsonObject(behavior) ? { behavior } : {}),
  }
  object['status'] = {
    ...restOfStatus,
    ...(conditions.length > 0 ? { conditions } : {}),
    ...(currentMetrics.length > 0 ? { currentMetrics } : {}),
  }
}

function autoscalerFromStorage(object: AnyObject): void {
  const { metrics, behavior, ...spec } = recordOf(object, 'spec')
  const { conditions, currentMetrics, ...status } = recordOf(object, 'status')
  const [target, otherMetrics] = splitCpu(metrics, 'target')
  const [current, otherCurrent] = splitCpu(currentMetrics, 'current')
  if (target !== undefined) spec['targetCPUUtilizationPercentage'] = target
  if (current !== undefined) status['currentCPUUtilizationPercentage'] = current
  object['spec'] = spec
  object['status'] = status
  put(object, metricsAnnotation, otherMetrics)
  put(object, behaviorAnnotation, behavior)
  put(object, conditionsAnnotation, conditions)
  put(object, currentMetricsAnnotation, otherCurrent)
}

function cpuMetric(value: JsonObject): JsonObject {
  return { type: 'Resource', resource: { name: 'cpu', ...value } }
}

/** The first metric that version 1 has a field for, and all others. */
function splitCpu(
  metrics: unknown,
  side: 'target' | 'current',
): [number | undefined, unknown[] | undefined] {
  const list: unknown[] = Array.isArray(metrics) ? metrics : []
  const at = list.findIndex((metric) => utilizationOf(metric, side) !== undefined)
  const others = list.filter((_metric, index) => index !== at)
  return [utilizationOf(list[at], side), others.length > 0 ? others : undefined]
}

function utilizationOf(metric: unknown, side: 'target' | 'current'): number | undefined {
  if (!isJsonObject(metric) || metric['type'] !== 'Resource') return undefined
  const { resource } = metric
  if (!isJsonObject(resource) || resource['name'] !== 'cpu') return undefined
  const value = resource[side]
  const utilization = isJsonObject(value) ? value['averageUtilization'] : undefined
  return typeof utilization === 'number' ? utilization : undefined
}

function recordOf(object: AnyObject, key: string): JsonObject {
  const value = object[key]
  return isJsonObject(value) ? value : {}
}

function take(object: AnyObject, annotation: string): unknown {
  const text = object.metadata.annotations?.[annotation]
  if (text === undefined) return undefined
  delete object.metadata.annotations?.[annotation]
  try {
    return JSON.parse(text)
  } catch {
    // A person's own annotation of that name: version 1 never promised that it means anything.
    return undefined
  }
}

function takeList(object: AnyObject, annotation: string): unknown[] {
  const value = take(object, annotation)
  return Array.isArray(value) ? value : []
}

function put(object: AnyObject, annotation: string, value: unknown): void {
  if (value === undefined) return
  object.metadata.annotations = {
    ...object.metadata.annotations,
    [annotation]: JSON.stringify(value),
  }
}
