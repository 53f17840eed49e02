import type { NodeSelectorRequirement, NodeSelectorTerm } from '@skerry/api'
import type { NodeInfo } from '../node-info.ts'

/** core/v1 NodeSelector: terms are OR-ed, requirements AND-ed; an empty term matches nothing. */
export function matchesAnyTerm(node: NodeInfo, terms: readonly NodeSelectorTerm[]): boolean {
  return terms.some((term) => matchesTerm(node, term))
}

export function matchesTerm(node: NodeInfo, term: NodeSelectorTerm): boolean {
  const expressions = term.matchExpressions ?? []
  const fields = term.matchFields ?? []
  if (expressions.length === 0 && fields.length === 0) return false
  return (
    expressions.every((each) => matches(node.labels[each.key], each)) &&
    fields.every((each) => each.key === 'metadata.name' && matches(node.name, each))
  )
}

function matches(value: string | undefined, requirement: NodeSelectorRequirement): boolean {
  const values = requirement.values ?? []
  switch (requirement.operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    case 'Gt':
      return value !== undefined && Number(value) > Number(values[0])
    case 'Lt':
      return value !== undefined && Number(value) < Number(values[0])
    default:
      return false
  }
}
