import {
  addQuantities,
  compareQuantities,
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
  formatQuantity,
  parseQuantity,
  quantityToNumber,
  type CapacityRequestPolicyRange,
  type DeviceCapacity,
  type Quantity,
} from '@skerry/api'
import type { Found } from '../checks.ts'
import type { Loose } from '../typed-strategy.ts'
import { checkDistinct, checkList } from './list-checks.ts'
import { kindsBounds } from '../../limits-table.ts'

const { optionsMax } = kindsBounds.requestPolicy

interface Amounts {
  /** The device's total amount. */
  readonly whole: Quantity
  /** The amount of a request that names none. */
  readonly usual: Quantity
}

/** Checks how much of a shared capacity one request may ask for (KEP-5075). */
export function checkRequestPolicy(
  { requestPolicy: policy, value }: Loose<DeviceCapacity>,
  { field, isShared }: { field: string; isShared: boolean },
  found: Found,
): void {
  if (!policy) return
  if (!isShared) {
    found.push(fieldForbidden(field, 'allowMultipleAllocations must be true'))
    return
  }
  const { default: usual, validRange: range, validValues: values = [] } = policy
  const kind = values.length > 0 ? 'validValues' : 'validRange'
  if (values.length > 0 && range) {
    const detail =
      'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time'
    found.push(fieldForbidden(field, detail))
  } else if (values.length === 0 && !range) return
  else if (usual === undefined || usual === null) {
    found.push(fieldRequired(`${field}.default`, `required when ${kind} is defined`))
  } else {
    const amounts = { whole: parseQuantity(value ?? '0'), usual: parseQuantity(usual) }
    if (range) checkRange(range, amounts, `${field}.validRange`, found)
    else checkValues(values.map(parseQuantity), amounts, `${field}.validValues`, found)
  }
}

function checkValues(
  values: readonly Quantity[],
  { whole, usual }: Amounts,
  path: string,
  found: Found,
): void {
  for (const [at, value] of values.entries()) {
    const before = values[at - 1]
    if (!before || compareQuantities(before, value) <= 0) continue
    const detail = 'values must be sorted in ascending order'
    found.push(fieldInvalid(`${path}[${at}]`, formatQuantity(value), detail))
  }
  const isShort = checkList(values, { field: path, max: optionsMax }, found, (value, field) => {
    if (compareQuantities(value, whole) <= 0) return
    const detail = `option is larger than capacity value: ${formatQuantity(whole)}`
    found.push(fieldInvalid(field, formatQuantity(value), detail))
  })
  if (isShort) checkDistinct(values, path, found, (value) => String(quantityToNumber(value)))
  const isListed = values.some((value) => compareQuantities(value, usual) === 0)
  if (isShort && isListed) return
  const detail = 'default value is not valid according to the requestPolicy'
  found.push(fieldInvalid(path, formatQuantity(usual), detail))
}

function checkRange(
  range: Loose<CapacityRequestPolicyRange>,
  amounts: Amounts,
  path: string,
  found: Found,
): void {
  if (range.min === undefined) {
    found.push(fieldRequired(`${path}.min`, 'required when validRange is defined'))
    return
  }
  const { whole, usual } = amounts
  const min = parseQuantity(range.min)
  const max = range.max === undefined ? undefined : parseQuantity(range.max)
  const orders: [string, Quantity, Quantity, string][] = [
    ['min', min, whole, 'min is larger than capacity value'],
    ...(max
      ? ([
          ['max', min, max, 'min is larger than max'],
          ['max', max, whole, 'max is larger than capacity value'],
          ['max', usual, max, 'default is more than max'],
        ] as [string, Quantity, Quantity, string][])
      : []),
  ]
  for (const [index, [name, small, large, detail]] of orders.entries()) {
    if (compareQuantities(small, large) > 0) {
      const text = `${detail}: ${formatQuantity(large)}`
      found.push(fieldInvalid(`${path}.${name}`, formatQuantity(small), text))
    }
    if (index > 0 || compareQuantities(usual, min) >= 0) continue
    const text = `default is less than min: ${formatQuantity(min)}`
    found.push(fieldInvalid(`${path}.min`, formatQuantity(usual), text))
  }
  if (range.step === undefined) return
  checkSteps({ min, max, step: parseQuantity(range.step) }, amounts, `${path}.step`, found)
}

function checkSteps(
  { min, max, step }: { min: Quantity; max: Quantity | undefined; step: Quantity },
  { whole, usual }: Amounts,
  field: string,
  found: Found,
): void {
  const first = addQuantities(min, step)
  if (compareQuantities(first, whole) > 0) {
    const detail = `one step ${formatQuantity(first)} is larger than capacity value: ${formatQuantity(whole)}`
    found.push(fieldInvalid(field, formatQuantity(step), detail))
  }
  const from = quantityToNumber(min)
  for (const value of max ? [usual, max] : [usual]) {
    if ((quantityToNumber(value) - from) % quantityToNumber(step) === 0) continue
    const detail = `value is not a multiple of a given step (${formatQuantity(step)}) from (${formatQuantity(min)})`
    found.push(fieldInvalid(field, formatQuantity(value), detail))
  }
}
