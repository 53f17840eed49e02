import {
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  parseQuantity,
  type HPAScalingRules,
  type HorizontalPodAutoscaler,
  type StatusCause,
} from '@skerry/api'
import { checkCounters, checkOneOf, type Found } from '../checks.ts'
import type { Loose, LooseObject } from '../typed-strategy.ts'
import { checkObjectReference, checkObjectVersion } from './object-reference.ts'
import { checkMetrics } from './metric-validation.ts'
import { kindsBounds } from '../../limits-table.ts'

const limits = kindsBounds.horizontalPodAutoscalerValidation

export function validateAutoscaler(
  autoscaler: LooseObject<HorizontalPodAutoscaler>,
  old?: LooseObject<HorizontalPodAutoscaler>,
): StatusCause[] {
  const found: Found = []
  const { spec = {} } = autoscaler
  const { minReplicas, maxReplicas = 0 } = spec
  if (minReplicas !== undefined && minReplicas < 1) {
    const detail = 'must be greater than or equal to 1'
    found.push(fieldInvalid('spec.minReplicas', minReplicas, detail))
  }
  if (maxReplicas === 0) {
    found.push(fieldRequired('spec.maxReplicas', 'must be set and greater than 0'))
  } else if (maxReplicas < 0) {
    const detail = 'must be greater than or equal to 1'
    found.push(fieldInvalid('spec.maxReplicas', maxReplicas, detail))
  }
  if (minReplicas !== undefined && maxReplicas < minReplicas) {
    const detail = 'must be greater than or equal to `minReplicas`'
    found.push(fieldInvalid('spec.maxReplicas', maxReplicas, detail))
  }
  const target = spec.scaleTargetRef ?? {}
  checkObjectReference(target, 'spec.scaleTargetRef', found)
  const before = old?.spec?.scaleTargetRef
  if (!before || before.apiVersion !== target.apiVersion || before.kind !== target.kind) {
    // A scale target is never of the core group, except for replication controllers.
    const mayBeCore = target.kind === 'ReplicationController'
    checkObjectVersion(target, { path: 'spec.scaleTargetRef', mayBeCore }, found)
  }
  checkMetrics(spec, 'spec.metrics', found)
  for (const name of ['scaleUp', 'scaleDown'] as const) {
    const rules = spec.behavior?.[name]
    if (rules) checkRules(rules, `spec.behavior.${name}`, found)
  }
  return found
}

function checkRules(rules: Loose<HPAScalingRules>, path: string, found: Found): void {
  const { stabilizationWindowSeconds: seconds, selectPolicy, policies = [], tolerance } = rules
  const field = `${path}.stabilizationWindowSeconds`
  if (seconds !== undefined && seconds < 0) {
    found.push(fieldInvalid(field, seconds, 'must be greater than or equal to zero'))
  }
  if (seconds !== undefined && seconds > limits.stabilizationSeconds) {
    const detail = `must be less than or equal to ${limits.stabilizationSeconds}`
    found.push(fieldInvalid(field, seconds, detail))
  }
  checkOneOf(selectPolicy, ['Disabled', 'Max', 'Min'], `${path}.selectPolicy`, found)
  if (policies.length === 0) {
    found.push(fieldRequired(`${path}.policies`, 'must specify at least one Policy'))
  }
  for (const [at, policy] of policies.entries()) {
    checkPolicy(policy, `${path}.policies[${at}]`, found)
  }
  if (tolerance !== undefined && parseQuantity(tolerance).nanos < 0n) {
    const detail = 'must be greater than or equal to 0'
    found.push(fieldInvalid(`${path}.tolerance`, tolerance, detail))
  }
}

type Policy = NonNullable<Loose<HPAScalingRules>['policies']>[number]

function checkPolicy(policy: Policy, path: string, found: Found): void {
  const { type = '', value = 0, periodSeconds = 0 } = policy
  const types = ['Percent', 'Pods']
  if (!types.includes(type)) found.push(fieldNotSupported(`${path}.type`, type, types))
  if (value <= 0) found.push(fieldInvalid(`${path}.value`, value, 'must be greater than zero'))
  const field = `${path}.periodSeconds`
  if (periodSeconds <= 0) {
    found.push(fieldInvalid(field, periodSeconds, 'must be greater than zero'))
  }
  if (periodSeconds > limits.periodSeconds) {
    const detail = `must be less than or equal to ${limits.periodSeconds}`
    found.push(fieldInvalid(field, periodSeconds, detail))
  }
}

export function validateAutoscalerStatus(
  autoscaler: LooseObject<HorizontalPodAutoscaler>,
): StatusCause[] {
  const found: Found = []
  const { status = {} } = autoscaler
  checkCounters(status, ['currentReplicas', 'desiredReplicas'], 'status', found)
  return found
}
