import type { ClusterRole, PolicyRule } from '../generated/types.ts'
import { equalJson } from '../json.ts'
import { labelSelectorOf } from './label-selector.ts'

/**
 * Returns the rules of an aggregated role: those of the roles that it selects, selector by selector
 * and in the order of their names, each once.
 */
export function aggregatedRules(role: ClusterRole, all: readonly ClusterRole[]): PolicyRule[] {
  const others = all
    .filter(({ metadata }) => metadata.name !== role.metadata.name)
    .toSorted((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1))
  const rules: PolicyRule[] = []
  for (const selector of (role.aggregationRule?.clusterRoleSelectors ?? []).map(labelSelectorOf)) {
    const selected = others.filter(({ metadata }) => selector.matches(metadata.labels ?? {}))
    for (const rule of selected.flatMap((each) => each.rules ?? [])) {
      if (!rules.some((known) => equalJson(known, rule))) rules.push(rule)
    }
  }
  return rules
}
