import type { PodAffinityTerm, PodSpec } from '@skerry/api'
import type { SelectorFields } from '../label-checks.ts'
import type { Loose } from '../typed-strategy.ts'

/**
 * matchLabelKeys names keys whose values the pod itself has. They are expanded to selector
 * requirements at creation, so that the scheduler sees plain selectors.
 */
export function expandMatchLabelKeys(
  spec: Loose<PodSpec>,
  labels: Readonly<Record<string, string>> = {},
): void {
  for (const term of affinityTermsOf(spec)) {
    require(term.labelSelector, { keys: term.matchLabelKeys, operator: 'In', labels })
    require(term.labelSelector, { keys: term.mismatchLabelKeys, operator: 'NotIn', labels })
  }
  for (const constraint of spec.topologySpreadConstraints ?? []) {
    const keys = constraint.matchLabelKeys
    require(constraint.labelSelector, { keys, operator: 'In', labels })
  }
}

function affinityTermsOf(spec: Loose<PodSpec>): Loose<PodAffinityTerm>[] {
  const { podAffinity, podAntiAffinity } = spec.affinity ?? {}
  return [podAffinity, podAntiAffinity].flatMap((affinity) => [
    ...(affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).flatMap((weighted) =>
      weighted.podAffinityTerm ? [weighted.podAffinityTerm] : [],
    ),
    ...(affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
  ])
}

interface Requirement {
  keys: readonly string[] | undefined
  operator: 'In' | 'NotIn'
  labels: Readonly<Record<string, string>>
}

function require(selector: Loose<SelectorFields> | undefined, requirement: Requirement): void {
  if (!selector) return
  const { keys = [], operator, labels } = requirement
  for (const key of keys) {
    const value = labels[key]
    if (value === undefined) continue
    selector.matchExpressions ??= []
    selector.matchExpressions.push({ key, operator, values: [value] })
  }
}
