import {
  fieldDuplicate,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  fieldTooMany,
  invalidOmitted,
  quoteGo,
  type JobSpec,
  type PodFailurePolicyOnExitCodesRequirement,
  type PodFailurePolicyRule,
  type SuccessPolicyRule,
} from '@skerry/api'
import { checkNonNegative, checkQualifiedField, type Found } from '../checks.ts'
import type { Loose } from '../typed-strategy.ts'
import { parseIndexIntervals } from './index-intervals.ts'
import { kindsBounds } from '../../limits-table.ts'

const limits = kindsBounds.jobPolicyValidation
const actions = ['Count', 'FailIndex', 'FailJob', 'Ignore']

export function checkFailurePolicy(spec: Loose<JobSpec>, path: string, found: Found): void {
  const rules = spec.podFailurePolicy?.rules ?? []
  if (rules.length > limits.rules) {
    found.push(fieldTooMany(`${path}.rules`, rules.length, limits.rules))
  }
  for (const [at, rule] of rules.entries()) {
    checkFailureRule(rule, spec, `${path}.rules[${at}]`, found)
  }
}

function checkFailureRule(
  rule: Loose<PodFailurePolicyRule>,
  spec: Loose<JobSpec>,
  path: string,
  found: Found,
): void {
  const { action = '', onExitCodes, onPodConditions = [] } = rule
  checkAction(action, spec, `${path}.action`, found)
  if (onExitCodes) checkExitCodes(onExitCodes, spec, `${path}.onExitCodes`, found)
  checkConditions(onPodConditions, `${path}.onPodConditions`, found)
  const count = Number(onExitCodes !== undefined) + Number(onPodConditions.length > 0)
  if (count === 2) {
    const detail = 'specifying both OnExitCodes and OnPodConditions is not supported'
    found.push(invalidOmitted(path, detail))
  }
  if (count === 0) {
    const detail = 'specifying one of OnExitCodes and OnPodConditions is required'
    found.push(invalidOmitted(path, detail))
  }
}

function checkAction(action: string, spec: Loose<JobSpec>, field: string, found: Found): void {
  if (!action) {
    found.push(fieldRequired(field, validValues(actions)))
  } else if (!actions.includes(action)) {
    found.push(fieldNotSupported(field, action, actions))
  } else if (action === 'FailIndex' && spec.backoffLimitPerIndex === undefined) {
    found.push(fieldInvalid(field, action, 'requires the backoffLimitPerIndex to be set'))
  }
}

/** Go prints a list of strings in brackets and without commas. */
function validValues(values: readonly string[]): string {
  return `valid values: [${values.map(quoteGo).join(' ')}]`
}

function checkConditions(
  patterns: NonNullable<Loose<PodFailurePolicyRule>['onPodConditions']>,
  field: string,
  found: Found,
): void {
  if (patterns.length > limits.conditions) {
    found.push(fieldTooMany(field, patterns.length, limits.conditions))
  }
  const statuses = ['False', 'True', 'Unknown']
  for (const [at, { type = '', status = '' }] of patterns.entries()) {
    checkQualifiedField(type, `${field}[${at}].type`, found)
    if (!status) found.push(fieldRequired(`${field}[${at}].status`, validValues(statuses)))
    else if (!statuses.includes(status)) {
      found.push(fieldNotSupported(`${field}[${at}].status`, status, statuses))
    }
  }
}

function checkExitCodes(
  requirement: Loose<PodFailurePolicyOnExitCodesRequirement>,
  spec: Loose<JobSpec>,
  path: string,
  found: Found,
): void {
  const { operator = '', containerName, values } = requirement
  const operators = ['In', 'NotIn']
  if (!operator) found.push(fieldRequired(`${path}.operator`, validValues(operators)))
  else if (!operators.includes(operator)) {
    found.push(fieldNotSupported(`${path}.operator`, operator, operators))
  }
  const pod = spec.template?.spec
  const containers = [...(pod?.containers ?? []), ...(pod?.initContainers ?? [])]
  if (containerName !== undefined && !containers.some(({ name }) => name === containerName)) {
    const detail = 'must be one of the container or initContainer names in the pod template'
    found.push(fieldInvalid(`${path}.containerName`, containerName, detail))
  }
  checkCodeValues(values ?? [], operator, `${path}.values`, found)
}

function checkCodeValues(
  values: readonly number[],
  operator: string,
  field: string,
  found: Found,
): void {
  if (values.length === 0) {
    found.push(fieldInvalid(field, values, 'at least one value is required'))
  } else if (values.length > limits.exitCodes) {
    found.push(fieldTooMany(field, values.length, limits.exitCodes))
  }
  for (const [at, value] of values.entries()) {
    if (operator === 'In' && value === 0) {
      found.push(fieldInvalid(`${field}[${at}]`, value, 'must not be 0 for the In operator'))
    }
    if (values.indexOf(value) < at) found.push(fieldDuplicate(`${field}[${at}]`, value))
  }
  const isOrdered = values.every((value, at) => at === 0 || (values[at - 1] ?? 0) <= value)
  if (!isOrdered) found.push(fieldInvalid(field, values, 'must be ordered'))
}

export function checkSuccessPolicy(spec: Loose<JobSpec>, path: string, found: Found): void {
  const rules = spec.successPolicy?.rules ?? []
  if (rules.length === 0) {
    const detail = 'at least one rules must be specified when the successPolicy is specified'
    found.push(fieldRequired(`${path}.rules`, detail))
  }
  if (rules.length > limits.rules) {
    found.push(fieldTooMany(`${path}.rules`, rules.length, limits.rules))
  }
  for (const [at, rule] of rules.entries()) {
    checkSuccessRule(rule, spec.completions ?? 0, `${path}.rules[${at}]`, found)
  }
}

function checkSuccessRule(
  rule: Loose<SuccessPolicyRule>,
  completions: number,
  path: string,
  found: Found,
): void {
  const { succeededCount: count, succeededIndexes: indexes } = rule
  if (count === undefined && indexes === undefined) {
    const detail = 'at least one of succeededCount or succeededIndexes must be specified'
    found.push(fieldRequired(path, detail))
  }
  const parsed = parseIndexIntervals(indexes ?? '', completions)
  if (parsed.error) {
    const detail = `error parsing succeededIndexes: ${parsed.error}`
    found.push(fieldInvalid(`${path}.succeededIndexes`, indexes, detail))
  }
  if (count === undefined) return
  const field = `${path}.succeededCount`
  checkNonNegative(count, field, found)
  if (count > completions) {
    const detail = `must be less than or equal to ${completions} (the number of specified completions)`
    found.push(fieldInvalid(field, count, detail))
  }
  const named = parsed.count ?? 0
  if (indexes !== undefined && count > named) {
    const detail = `must be less than or equal to ${named} (the number of indexes in the specified succeededIndexes field)`
    found.push(fieldInvalid(field, count, detail))
  }
}
