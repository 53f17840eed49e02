import type { PolicyRule } from '@skerry/api'
import type { FurtherRules, Objects } from '@skerry/apiserver'
import { clusterResource } from '@skerry/fleet-kinds'
import type { ClusterGrants } from './cluster-grants.ts'
import { clusterStatesPath } from './cluster-states-route.ts'
import { reachableClustersPath } from './reachable-clusters.ts'

/**
 * Returns the rules that ClusterAccess grants a user. They name the clusters that have the labels now, and
 * reveal no others. They match clusterAccessAuthorizer exactly.
 */
export function clusterAccessRules(grants: ClusterGrants, objects: Objects): FurtherRules {
  return (user) => {
    const isKnown = user.groups.includes('system:authenticated')
    const own = [reachableClustersPath, clusterStatesPath, `${clusterStatesPath}/*`]
    const list = { verbs: ['get'], nonResourceURLs: own }
    const rules: PolicyRule[] = isKnown ? [list] : []
    const held = grants.of(user)
    const clusters = held.length === 0 ? [] : objects.list(clusterResource)
    for (const { selector, verbs, serviceVerbs } of held) {
      const names = clusters
        .filter(({ metadata }) => selector.matches(metadata.labels ?? {}))
        .map(({ metadata }) => metadata.name ?? '')
      // A rule without names would cover every cluster.
      if (names.length === 0) continue
      const where = { apiGroups: [clusterResource.group], resourceNames: names }
      rules.push({ verbs: [...verbs], resources: ['clusters/proxy'], ...where })
      if (serviceVerbs.length === 0) continue
      rules.push({ verbs: [...serviceVerbs], resources: ['clusters/services'], ...where })
    }
    return rules
  }
}
