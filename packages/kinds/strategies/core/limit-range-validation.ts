import {
  compareQuantities,
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
  parseQuantity,
  quantityOf,
  quantityToFloat,
  type LimitRange,
  type LimitRangeItem,
  type StatusCause,
} from '@skerry/api'
import { checkQualifiedField, type Found } from '../checks.ts'
import type { Loose, LooseObject } from '../typed-strategy.ts'
import {
  checkContainerResourceName,
  checkResourceName,
  isOvercommitAllowed,
} from './pod-spec-validation/resource-names.ts'

type Item = Loose<LimitRangeItem>

export function validateLimitRange(range: LooseObject<LimitRange>): StatusCause[] {
  const found: Found = []
  const types = new Set<string>()
  for (const [at, item] of (range.spec?.limits ?? []).entries()) {
    const path = `spec.limits[${at}]`
    const { type = '' } = item
    checkType(type, `${path}.type`, found)
    if (types.has(type)) found.push(fieldDuplicate(`${path}.type`, type))
    types.add(type)
    checkItem(item, path, found)
  }
  return found
}

function checkType(type: string, field: string, found: Found): void {
  const before = found.length
  checkQualifiedField(type, field, found)
  const isStandard = ['Pod', 'Container', 'PersistentVolumeClaim'].includes(type)
  if (found.length > before || isStandard || type.includes('/')) return
  found.push(fieldInvalid(field, type, 'must be a standard limit type or fully qualified'))
}

const lists = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const

function checkItem(item: Item, path: string, found: Found): void {
  const isPod = item.type === 'Pod'
  const names = new Set<string>()
  for (const list of lists) {
    const amounts = item[list] ?? {}
    if (list === 'maxLimitRequestRatio') checkStorageBounds(item, path, found)
    if (isPod && (list === 'default' || list === 'defaultRequest')) {
      if (Object.keys(amounts).length === 0) continue
      found.push(fieldForbidden(`${path}.${list}`, "may not be specified when `type` is 'Pod'"))
      continue
    }
    for (const name of Object.keys(amounts)) {
      const check =
        isPod || item.type === 'Container' ? checkContainerResourceName : checkResourceName
      check(name, `${path}.${list}[${name}]`, found)
      names.add(name)
    }
  }
  for (const name of names) checkOrder(item, name, path, found)
}

function checkStorageBounds(item: Item, path: string, found: Found): void {
  if (item.type !== 'PersistentVolumeClaim') return
  if (item.min?.['storage'] !== undefined || item.max?.['storage'] !== undefined) return
  const detail = 'either minimum or maximum storage value is required, but neither was provided'
  found.push(fieldRequired(`${path}.limits`, detail))
}

type Bound = 'min' | 'max' | 'default' | 'defaultRequest'

/** [lesser, greater, reported field, reported value]: the lesser must not exceed the greater. */
const orders: readonly (readonly [Bound, Bound, Bound, Bound])[] = [
  ['min', 'max', 'min', 'min'],
  ['min', 'defaultRequest', 'defaultRequest', 'defaultRequest'],
  ['defaultRequest', 'max', 'defaultRequest', 'defaultRequest'],
  ['defaultRequest', 'default', 'defaultRequest', 'defaultRequest'],
  ['min', 'default', 'default', 'min'],
  ['default', 'max', 'default', 'max'],
]
const words: Readonly<Record<Bound, string>> = Object.freeze({
  min: 'min value',
  max: 'max value',
  default: 'default value',
  defaultRequest: 'default request value',
})

function checkOrder(item: Item, name: string, path: string, found: Found): void {
  for (const [lesser, greater, owner, shown] of orders) {
    const low = item[lesser]?.[name]
    const high = item[greater]?.[name]
    if (low === undefined || high === undefined || !isAbove(low, high)) continue
    const isLimit = lesser === 'defaultRequest' && greater === 'default'
    const word = isLimit ? 'default limit value' : words[greater]
    const detail = `${words[lesser]} ${low} is greater than ${word} ${high}`
    found.push(fieldInvalid(`${path}.${owner}[${name}]`, item[shown]?.[name], detail))
  }
  checkRatio(item, name, `${path}.maxLimitRequestRatio[${name}]`, found)
  const limit = item.default?.[name]
  const request = item.defaultRequest?.[name]
  if (isOvercommitAllowed(name) || limit === undefined || request === undefined) return
  if (compareQuantities(parseQuantity(limit), parseQuantity(request)) === 0) return
  const detail = `default value ${limit} must equal to defaultRequest value ${request} in ${name}`
  found.push(fieldInvalid(`${path}.defaultRequest[${name}]`, request, detail))
}

function isAbove(first: string, second: string): boolean {
  return compareQuantities(parseQuantity(first), parseQuantity(second)) > 0
}

function checkRatio(item: Item, name: string, field: string, found: Found): void {
  const ratio = item.maxLimitRequestRatio?.[name]
  if (ratio === undefined) return
  if (compareQuantities(parseQuantity(ratio), quantityOf(1)) < 0) {
    found.push(fieldInvalid(field, ratio, `ratio ${ratio} is less than 1`))
  }
  const min = item.min?.[name]
  const max = item.max?.[name]
  if (min === undefined || max === undefined) return
  const limit = quantityToFloat(max) / quantityToFloat(min)
  if (quantityToFloat(ratio) <= limit) return
  const detail = `ratio ${ratio} is greater than max/min = ${limit.toFixed(6)}`
  found.push(fieldInvalid(field, ratio, detail))
}
