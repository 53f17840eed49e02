import {
  checkDnsSubdomain,
  checkLabelValue,
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
  type NodeSelector,
  type NodeSelectorRequirement,
  type NodeSelectorTerm,
} from '@skerry/api'
import { addInvalid, checkQualifiedField, type Found } from '../../checks.ts'
import type { Loose } from '../../typed-strategy.ts'

export function checkNodeSelector(selector: Loose<NodeSelector>, path: string, found: Found): void {
  const field = `${path}.nodeSelectorTerms`
  const terms = selector.nodeSelectorTerms ?? []
  if (terms.length === 0) {
    found.push(fieldRequired(field, 'must have at least one node selector term'))
  }
  for (const [at, term] of terms.entries()) checkNodeSelectorTerm(term, `${field}[${at}]`, found)
}

/** `isPreferred`: a preference, whose values upstream does not check. */
export function checkNodeSelectorTerm(
  term: Loose<NodeSelectorTerm>,
  path: string,
  found: Found,
  isPreferred = false,
): void {
  for (const [at, requirement] of (term.matchExpressions ?? []).entries()) {
    const field = `${path}.matchExpressions[${at}]`
    checkExpression(requirement, field, found)
    if (isPreferred) continue
    for (const [index, value] of (requirement.values ?? []).entries()) {
      addInvalid(found, `${field}.values[${index}]`, value, checkLabelValue(value))
    }
  }
  for (const [at, requirement] of (term.matchFields ?? []).entries()) {
    checkFieldRequirement(requirement, `${path}.matchFields[${at}]`, found)
  }
}

function checkExpression(
  requirement: Loose<NodeSelectorRequirement>,
  path: string,
  found: Found,
): void {
  const { operator = '', key = '', values = [] } = requirement
  const field = `${path}.values`
  if (operator === 'In' || operator === 'NotIn') {
    const detail = "must be specified when `operator` is 'In' or 'NotIn'"
    if (values.length === 0) found.push(fieldRequired(field, detail))
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    const detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
    if (values.length > 0) found.push(fieldForbidden(field, detail))
  } else if (operator === 'Gt' || operator === 'Lt') {
    const detail = "must be specified single value when `operator` is 'Lt' or 'Gt'"
    if (values.length !== 1) found.push(fieldRequired(field, detail))
  } else {
    found.push(fieldInvalid(`${path}.operator`, operator, 'not a valid selector operator'))
  }
  checkQualifiedField(key, `${path}.key`, found)
}

function checkFieldRequirement(
  requirement: Loose<NodeSelectorRequirement>,
  path: string,
  found: Found,
): void {
  const { operator = '', key = '', values = [] } = requirement
  if (operator !== 'In' && operator !== 'NotIn') {
    found.push(fieldInvalid(`${path}.operator`, operator, 'not a valid selector operator'))
  } else if (values.length !== 1) {
    const detail =
      "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
    found.push(fieldRequired(`${path}.values`, detail))
  }
  if (key !== 'metadata.name') {
    found.push(fieldInvalid(`${path}.key`, key, 'not a valid field selector key'))
    return
  }
  for (const [at, value] of values.entries()) {
    addInvalid(found, `${path}.values[${at}]`, value, checkDnsSubdomain(value))
  }
}
