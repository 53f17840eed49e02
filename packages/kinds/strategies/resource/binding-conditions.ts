import { fieldDuplicate, fieldInvalid } from '@skerry/api'
import { checkQualifiedField, type Found } from '../checks.ts'
import { checkList } from './list-checks.ts'
import { kindsBounds } from '../../limits-table.ts'

const { conditionsMax } = kindsBounds.bindingConditions

interface BindingParameters {
  readonly bindingConditions?: readonly string[]
  readonly bindingFailureConditions?: readonly string[]
}

/**
 * A scheduler waits for some conditions before it binds, and others end the wait: both or neither
 * must be set (KEP-5007).
 */
export function checkBindingConditions(
  { bindingConditions: ready = [], bindingFailureConditions: failed = [] }: BindingParameters,
  path: string,
  found: Found,
): void {
  const [readyField, failedField] = ['bindingConditions', 'bindingFailureConditions'] as const
  const lists = [
    [readyField, ready],
    [failedField, failed],
  ] as const
  for (const [name, list] of lists) {
    const limit = { field: `${path}.${name}`, max: conditionsMax }
    checkList(list, limit, found, (condition, field) =>
      checkQualifiedField(condition, field, found),
    )
  }
  for (const [name, list] of lists) {
    for (const [at, condition] of list.entries()) {
      const field = `${path}.${name}[${at}]`
      if (list.indexOf(condition) < at) found.push(fieldDuplicate(field, condition))
      if (name !== failedField || !ready.includes(condition)) continue
      const detail = `${failedField} must not overlap with ${readyField}`
      found.push(fieldInvalid(field, condition, detail))
    }
  }
  if (ready.length === 0 && failed.length > 0) {
    const detail = `${readyField} are required to use ${failedField}`
    found.push(fieldInvalid(`${path}.${readyField}`, null, detail))
  }
  if (failed.length === 0 && ready.length > 0) {
    const detail = `${failedField} are required to use ${readyField}`
    found.push(fieldInvalid(`${path}.${failedField}`, null, detail))
  }
}
