import {
  checkLabelValue,
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
  labelSelectorOf,
  validateLabels,
  type LabelSelectorRequirement,
  type PodAffinityTerm,
} from '@skerry/api'
import { addInvalid, checkQualifiedField, type Found } from './checks.ts'
import type { Loose } from './typed-strategy.ts'

type Labels = Readonly<Record<string, string>>

/** A label selector as fields of kinds; the API's LabelSelector is the one that matches. */
export type SelectorFields = NonNullable<PodAffinityTerm['labelSelector']>

export function checkLabels(labels: Labels | undefined, field: string, found: Found): void {
  found.push(...validateLabels(labels, field))
}

export function checkLabelSelector(
  selector: Loose<SelectorFields> | undefined,
  field: string,
  found: Found,
): void {
  if (!selector) return
  checkLabels(selector.matchLabels, `${field}.matchLabels`, found)
  for (const [at, requirement] of (selector.matchExpressions ?? []).entries()) {
    checkRequirement(requirement, `${field}.matchExpressions[${at}]`, found)
  }
}

export function isEmptySelector(selector: Loose<SelectorFields>): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector
  return Object.keys(matchLabels).length + matchExpressions.length === 0
}

/** Returns false as well if the selector is invalid, which checkLabelSelector reports. */
export function selects(selector: Loose<SelectorFields> | undefined, labels: Labels): boolean {
  return labelSelectorOf(strictSelector(selector)).matches(labels)
}

/** Returns true if upstream could make a selector of it. */
export function isUsableSelector(selector: Loose<SelectorFields> | undefined): boolean {
  const found: Found = []
  checkLabelSelector(selector, '', found)
  return found.length === 0
}

type StrictSelector = Parameters<typeof labelSelectorOf>[0]

function strictSelector(selector: Loose<SelectorFields> | undefined): StrictSelector {
  if (!selector) return undefined
  const matchExpressions = (selector.matchExpressions ?? []).map((requirement) => ({
    ...requirement,
    key: requirement.key ?? '',
    operator: requirement.operator ?? '',
  }))
  return { ...selector, matchExpressions }
}

function checkRequirement(
  requirement: Loose<LabelSelectorRequirement>,
  field: string,
  found: Found,
): void {
  const { key = '', operator = '', values = [] } = requirement
  checkOperator(operator, values, field, found)
  checkQualifiedField(key, `${field}.key`, found)
  for (const [at, value] of values.entries()) {
    addInvalid(found, `${field}.values[${at}]`, value, checkLabelValue(value))
  }
}

function checkOperator(
  operator: string,
  values: readonly string[],
  field: string,
  found: Found,
): void {
  if (operator === 'In' || operator === 'NotIn') {
    const detail = "must be specified when `operator` is 'In' or 'NotIn'"
    if (values.length === 0) found.push(fieldRequired(`${field}.values`, detail))
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    const detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
    if (values.length > 0) found.push(fieldForbidden(`${field}.values`, detail))
  } else {
    found.push(fieldInvalid(`${field}.operator`, operator, 'not a valid selector operator'))
  }
}
