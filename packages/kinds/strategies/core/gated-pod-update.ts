import {
  fieldInvalid,
  type NodeSelectorRequirement,
  type NodeSelectorTerm,
  type PodSpec,
} from '@skerry/api'
import { isSame, type Found } from '../checks.ts'
import type { Loose } from '../typed-strategy.ts'

/**
 * While a pod waits at a scheduling gate, its choice of nodes can still be narrowed. Both functions
 * restore the permitted changes in `next`, so that the rest can be compared.
 */
export function checkNodeSelectorAdditions(
  next: Loose<PodSpec>,
  old: Loose<PodSpec>,
  found: Found,
): void {
  const { nodeSelector = {} } = next
  const isKept = Object.entries(old.nodeSelector ?? {}).every(
    ([key, value]) => nodeSelector[key] === value,
  )
  if (!isKept) {
    const detail = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)'
    found.push(fieldInvalid('spec.nodeSelector', nodeSelector, detail))
  }
  next.nodeSelector = old.nodeSelector
}

export function checkNodeAffinityAdditions(
  next: Loose<PodSpec>,
  old: Loose<PodSpec>,
  found: Found,
): void {
  const before = old.affinity?.nodeAffinity
  if (isSame(next.affinity?.nodeAffinity, before)) return
  const required = 'requiredDuringSchedulingIgnoredDuringExecution'
  const field = `spec.affinity.nodeAffinity.${required}.nodeSelectorTerms`
  const terms = next.affinity?.nodeAffinity?.[required]?.nodeSelectorTerms ?? []
  const termsBefore = before?.[required]?.nodeSelectorTerms ?? []
  if (termsBefore.length > 0 && termsBefore.length !== terms.length) {
    const detail = 'no additions/deletions to non-empty NodeSelectorTerms list are allowed'
    found.push(fieldInvalid(field, terms, detail))
  } else {
    for (const [at, term] of termsBefore.entries()) {
      if (hasOnlyAdditions(terms[at] ?? {}, term)) continue
      const detail = 'only additions are allowed (no mutations or deletions)'
      found.push(fieldInvalid(`${field}[${at}]`, terms[at] ?? {}, detail))
    }
  }
  const { nodeAffinity: _, ...rest } = next.affinity ?? {}
  if (before) next.affinity = { ...rest, nodeAffinity: before }
  else next.affinity = Object.keys(rest).length > 0 || old.affinity ? rest : undefined
}

function hasOnlyAdditions(next: Loose<NodeSelectorTerm>, old: Loose<NodeSelectorTerm>): boolean {
  const { matchExpressions = [], matchFields = [] } = old
  const isEmpty = matchExpressions.length === 0 && matchFields.length === 0
  const nextCount = (next.matchExpressions ?? []).length + (next.matchFields ?? []).length
  // An empty term matches no node; adding a requirement would widen the choice.
  if (isEmpty) return nextCount === 0
  return (
    startsWith(next.matchExpressions, matchExpressions) && startsWith(next.matchFields, matchFields)
  )
}

type Requirements = readonly Loose<NodeSelectorRequirement>[]

function startsWith(next: Requirements = [], old: Requirements): boolean {
  return next.length >= old.length && isSame(next.slice(0, old.length), old)
}
