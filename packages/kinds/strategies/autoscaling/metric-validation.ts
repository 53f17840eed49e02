import {
  checkPathSegment,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  parseQuantity,
  type HorizontalPodAutoscalerSpec,
  type MetricSpec,
  type MetricTarget,
} from '@skerry/api'
import { addInvalid, checkLabelField, type Found } from '../checks.ts'
import { checkContainerResourceName } from '../core/pod-spec-validation/resource-names.ts'
import type { Loose } from '../typed-strategy.ts'
import { checkObjectReference, checkObjectVersion } from './object-reference.ts'

const sourceNames = ['object', 'external', 'pods', 'resource', 'containerResource'] as const
type SourceName = (typeof sourceNames)[number]

const fieldOfType: Readonly<Record<string, SourceName>> = Object.freeze({
  ContainerResource: 'containerResource',
  External: 'external',
  Object: 'object',
  Pods: 'pods',
  Resource: 'resource',
})

export function checkMetrics(
  spec: Loose<HorizontalPodAutoscalerSpec>,
  field: string,
  found: Found,
): void {
  const metrics = spec.metrics ?? []
  for (const [at, metric] of metrics.entries()) checkMetric(metric, `${field}[${at}]`, found)
  const isScalable = metrics.some(({ type }) => type === 'Object' || type === 'External')
  if (spec.minReplicas !== 0 || isScalable) return
  const detail =
    'must specify at least one Object or External metric to support scaling to zero replicas'
  found.push(fieldForbidden(field, detail))
}

function checkMetric(metric: Loose<MetricSpec>, path: string, found: Found): void {
  const { type = '' } = metric
  const types = Object.keys(fieldOfType)
  const expected = fieldOfType[type]
  if (!type) found.push(fieldRequired(`${path}.type`, 'must specify a metric source type'))
  if (!expected) found.push(fieldNotSupported(`${path}.type`, type, types))
  const present = sourceNames.filter((name) => metric[name] !== undefined)
  const [first] = present
  if (first) checkOfSource[first](metric, `${path}.${first}`, found)
  if (expected === undefined) {
    found.push(fieldNotSupported(`${path}.type`, type, types))
  } else if (!present.includes(expected)) {
    const detail = 'must populate information for the given metric source'
    found.push(fieldRequired(`${path}.${expected}`, detail))
  }
  if (present.length === 1) return
  for (const name of present) {
    if (name === expected) continue
    found.push(fieldForbidden(`${path}.${name}`, 'must populate the given metric source only'))
  }
}

type SourceCheck = (metric: Loose<MetricSpec>, path: string, found: Found) => void

const checkOfSource: Readonly<Record<SourceName, SourceCheck>> = Object.freeze({
  object: (metric: Loose<MetricSpec>, path: string, found: Found) => {
    const { describedObject = {}, metric: identifier, target = {} } = metric.object ?? {}
    const place = `${path}.describedObject`
    checkObjectReference(describedObject, place, found)
    checkObjectVersion(describedObject, { path: place, mayBeCore: true }, found)
    checkIdentifier(identifier?.name, `${path}.metric.name`, found)
    checkTarget(target, `${path}.target`, found)
    if (target.value !== undefined || target.averageValue !== undefined) return
    const detail = 'must set either a target value or averageValue'
    found.push(fieldRequired(`${path}.target.averageValue`, detail))
  },
  external: (metric: Loose<MetricSpec>, path: string, found: Found) => {
    const { metric: identifier, target = {} } = metric.external ?? {}
    checkIdentifier(identifier?.name, `${path}.metric.name`, found)
    checkTarget(target, `${path}.target`, found)
    if (target.value === undefined && target.averageValue === undefined) {
      const detail = 'must set either a target value for metric or a per-pod target'
      found.push(fieldRequired(`${path}.target.averageValue`, detail))
    }
    if (target.value !== undefined && target.averageValue !== undefined) {
      const detail = 'may not set both a target value for metric and a per-pod target'
      found.push(fieldForbidden(`${path}.target.value`, detail))
    }
  },
  pods: (metric: Loose<MetricSpec>, path: string, found: Found) => {
    const { metric: identifier, target = {} } = metric.pods ?? {}
    checkIdentifier(identifier?.name, `${path}.metric.name`, found)
    checkTarget(target, `${path}.target`, found)
    if (target.averageValue !== undefined) return
    const detail = 'must specify a positive target averageValue'
    found.push(fieldRequired(`${path}.target.averageValue`, detail))
  },
  resource: (metric: Loose<MetricSpec>, path: string, found: Found) => {
    const { name, target = {} } = metric.resource ?? {}
    if (!name) found.push(fieldRequired(`${path}.name`, 'must specify a resource name'))
    checkResourceTarget(target, `${path}.target`, found)
  },
  containerResource: (metric: Loose<MetricSpec>, path: string, found: Found) => {
    const { name, container, target = {} } = metric.containerResource ?? {}
    if (name) checkContainerResourceName(name, `${path}.name`, found)
    else found.push(fieldRequired(`${path}.name`, 'must specify a resource name'))
    if (container) checkLabelField(container, `${path}.container`, found)
    else found.push(fieldRequired(`${path}.container`, 'must specify a container'))
    checkResourceTarget(target, `${path}.target`, found)
  },
})

function checkIdentifier(name: string | undefined, field: string, found: Found): void {
  if (name) addInvalid(found, field, name, checkPathSegment(name))
  else found.push(fieldRequired(field, 'must specify a metric name'))
}

function checkTarget(target: Loose<MetricTarget>, path: string, found: Found): void {
  const { type = '', averageUtilization } = target
  if (!type) found.push(fieldRequired(`${path}.type`, 'must specify a metric target type'))
  if (!['Utilization', 'Value', 'AverageValue'].includes(type)) {
    const detail = 'must be either Utilization, Value, or AverageValue'
    found.push(fieldInvalid(`${path}.type`, type, detail))
  }
  for (const name of ['value', 'averageValue'] as const) {
    const amount = target[name]
    if (amount === undefined || parseQuantity(amount).nanos > 0n) continue
    found.push(fieldInvalid(`${path}.${name}`, amount, 'must be positive'))
  }
  if (averageUtilization !== undefined && averageUtilization < 1) {
    const detail = 'must be greater than 0'
    found.push(fieldInvalid(`${path}.averageUtilization`, averageUtilization, detail))
  }
}

function checkResourceTarget(target: Loose<MetricTarget>, path: string, found: Found): void {
  checkTarget(target, path, found)
  const hasUtilization = target.averageUtilization !== undefined
  const hasValue = target.averageValue !== undefined
  if (!hasUtilization && !hasValue) {
    const detail = 'must set either a target raw value or a target utilization'
    found.push(fieldRequired(`${path}.averageUtilization`, detail))
  }
  if (hasUtilization && hasValue) {
    const detail = 'may not set both a target raw value and a target utilization'
    found.push(fieldForbidden(`${path}.averageValue`, detail))
  }
}
