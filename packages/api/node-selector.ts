import type { NodeSelectorRequirement, NodeSelectorTerm, PodSpec } from './generated/types.ts'

/** The fields of a node that selectors read. */
export interface SelectableNode {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
}

/** Matches the node selector and the required node affinity of a pod. */
export function matchesNodeAffinity(spec: PodSpec | undefined, node: SelectableNode): boolean {
  const selector = Object.entries(spec?.nodeSelector ?? {})
  if (!selector.every(([key, value]) => node.labels[key] === value)) return false
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  return required === undefined || matchesNodeSelectorTerms(required.nodeSelectorTerms, node)
}

/** Matches core/v1 NodeSelector: terms are OR-ed. */
export function matchesNodeSelectorTerms(
  terms: readonly NodeSelectorTerm[],
  node: SelectableNode,
): boolean {
  return terms.some((term) => matchesNodeSelectorTerm(term, node))
}

/** Requirements are AND-ed. A term without any matches nothing. */
export function matchesNodeSelectorTerm(
  { matchExpressions = [], matchFields = [] }: NodeSelectorTerm,
  { name, labels }: SelectableNode,
): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false
  return (
    matchExpressions.every((each) => meetsRequirement(each, labels[each.key])) &&
    matchFields.every((each) => each.key === 'metadata.name' && meetsRequirement(each, name))
  )
}

/**
 * Returns true if the value of the required label matches. `value` is undefined if the node has no
 * such label.
 */
export function meetsRequirement(
  { operator, values = [] }: NodeSelectorRequirement,
  value: string | undefined,
): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    case 'Gt':
      return compare(value, values[0]) > 0
    case 'Lt':
      return compare(value, values[0]) < 0
    default:
      return false
  }
}

/** Returns NaN, which is neither more nor less, unless both are whole numbers. */
function compare(value: string | undefined, bound: string | undefined): number {
  const whole = /^[+-]?\d+$/
  if (!whole.test(value ?? '') || !whole.test(bound ?? '')) return NaN
  return Number(value) - Number(bound)
}
