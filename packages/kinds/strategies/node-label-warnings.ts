import { checkLabelValue, type NodeSelectorTerm } from '@skerry/api'
import type { Loose } from './typed-strategy.ts'

const oldLabels: ReadonlyMap<string, string> = new Map([
  ['app.kubernetes.io/created-by', 'deprecated since v1.9'],
  ['beta.kubernetes.io/arch', replaced('v1.14', 'kubernetes.io/arch')],
  ['beta.kubernetes.io/instance-type', replaced('v1.17', 'node.kubernetes.io/instance-type')],
  ['beta.kubernetes.io/os', replaced('v1.14', 'kubernetes.io/os')],
  ['failure-domain.beta.kubernetes.io/region', replaced('v1.17', 'topology.kubernetes.io/region')],
  ['failure-domain.beta.kubernetes.io/zone', replaced('v1.17', 'topology.kubernetes.io/zone')],
  ['node-role.kubernetes.io/master', 'use "node-role.kubernetes.io/control-plane" instead'],
  [
    'scheduler.alpha.kubernetes.io/preferAvoidPods',
    'deprecated since v1.22; use Taints and Tolerations instead',
  ],
])

function replaced(version: string, by: string): string {
  return `deprecated since ${version}; use "${by}" instead`
}

/** Returns the replacement of a former node label, or undefined for all other labels. */
export function adviceOnNodeLabel(key: string): string | undefined {
  return oldLabels.get(key)
}

interface Expression {
  readonly key?: string
}

export function warningsOfExpressionKeys(
  expressions: readonly Expression[] = [],
  field: string,
): string[] {
  return expressions.flatMap(({ key = '' }, at) => {
    const advice = adviceOnNodeLabel(key)
    return advice ? [`${field}[${at}].key: ${key} is ${advice}`] : []
  })
}

export function warningsOfNodeTerms(
  terms: readonly Loose<NodeSelectorTerm>[] | null | undefined,
  field: string,
): string[] {
  return (terms ?? []).flatMap(({ matchExpressions }, at) =>
    warningsOfExpressionKeys(matchExpressions, `${field}[${at}].matchExpressions`),
  )
}

/** A preference may contain values that no label can have; it then prefers nothing. */
export function warningsOfTermValues(term: Loose<NodeSelectorTerm>, field: string): string[] {
  const warnings: string[] = []
  for (const [at, expression] of (term.matchExpressions ?? []).entries()) {
    const path = `${field}.matchExpressions[${at}]`
    const advice = adviceOnNodeLabel(expression.key ?? '')
    if (advice) warnings.push(`${path}.key: ${expression.key} is ${advice}`)
    for (const [index, value] of (expression.values ?? []).entries()) {
      for (const fault of checkLabelValue(value)) {
        warnings.push(`${path}.values[${index}]: ${value} is invalid, ${fault}`)
      }
    }
  }
  return warnings
}
