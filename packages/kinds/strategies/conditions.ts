import {
  checkConditionReason,
  fieldDuplicate,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  fieldTooLong,
  type Condition,
} from '@skerry/api'
import { addInvalid, checkQualifiedField, isLongerThan, type Found } from './checks.ts'
import type { Loose } from './typed-strategy.ts'
import { kindsBounds } from '../limits-table.ts'

const statuses = ['False', 'True', 'Unknown']
const { reasonBytesMax, messageBytesMax } = kindsBounds.conditions

/** Checks metav1.Condition for the kinds whose conditions upstream checks. */
export function checkConditions(
  conditions: readonly Loose<Condition>[],
  path: string,
  found: Found,
): void {
  const types = new Set<string>()
  for (const [at, condition] of conditions.entries()) {
    const field = `${path}[${at}]`
    const { type = '' } = condition
    if (types.has(type)) found.push(fieldDuplicate(`${field}.type`, type))
    types.add(type)
    checkCondition(condition, field, found)
  }
}

/** Orders the fields as a Go struct prints them. */
export function shownConditions(conditions: readonly Loose<Condition>[]): object[] {
  return conditions.map(
    ({ type, status, observedGeneration, lastTransitionTime, reason, message }) => ({
      type,
      status,
      ...(observedGeneration ? { observedGeneration } : {}),
      lastTransitionTime,
      reason,
      message,
    }),
  )
}

function checkCondition(condition: Loose<Condition>, field: string, found: Found): void {
  const { message = '', observedGeneration = 0, reason = '', status = '', type = '' } = condition
  checkQualifiedField(type, `${field}.type`, found)
  if (!statuses.includes(status)) {
    found.push(fieldNotSupported(`${field}.status`, status, statuses))
  }
  if (observedGeneration < 0) {
    const detail = 'must be greater than or equal to zero'
    found.push(fieldInvalid(`${field}.observedGeneration`, observedGeneration, detail))
  }
  if (!condition.lastTransitionTime) found.push(fieldRequired(`${field}.lastTransitionTime`))
  if (reason === '') found.push(fieldRequired(`${field}.reason`))
  else addInvalid(found, `${field}.reason`, reason, checkConditionReason(reason))
  if (isLongerThan(reason, reasonBytesMax)) {
    found.push(fieldTooLong(`${field}.reason`, reasonBytesMax))
  }
  if (isLongerThan(message, messageBytesMax)) {
    found.push(fieldTooLong(`${field}.message`, messageBytesMax))
  }
}
