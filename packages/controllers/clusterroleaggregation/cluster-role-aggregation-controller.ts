import { labelSelectorOf, type ClusterRole, type PolicyRule } from '@skerry/api'
import { keyOfObject, parseKey, resources } from '@skerry/client'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
} from '@skerry/controller-runtime'

/** A role with an aggregation rule has the rules of all the roles that the rule selects. */
export const clusterRoleAggregationController: ControllerDefinition = {
  name: 'clusterrole-aggregation-controller',
  watches: [
    watch(resources.clusterRoles, {
      // A label that comes or goes changes what every aggregated role has.
      keysOf: (_, context) =>
        context.informer(resources.clusterRoles).list().filter(isAggregated).map(keyOfObject),
      delayMs: 20,
    }),
  ],
  async reconcile(key, context, signal) {
    const role = context.informer(resources.clusterRoles).get(parseKey(key))
    if (role === undefined || !isAggregated(role)) return
    const rules = aggregatedRules(role, context)
    if (JSON.stringify(rules) === JSON.stringify(role.rules ?? [])) return
    await context.client(resources.clusterRoles).update({ ...role, rules }, signal)
  },
}

function isAggregated({ aggregationRule }: ClusterRole): boolean {
  return aggregationRule !== undefined
}

/** In name order of the roles, each rule once. */
function aggregatedRules(role: ClusterRole, context: ControllerContext): PolicyRule[] {
  const selectors = (role.aggregationRule?.clusterRoleSelectors ?? []).map(labelSelectorOf)
  const all = context
    .informer(resources.clusterRoles)
    .list()
    .toSorted((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1))
  const found = new Map<string, PolicyRule>()
  for (const selector of selectors) {
    for (const each of all) {
      if (each.metadata.name === role.metadata.name) continue
      if (!selector.matches(each.metadata.labels ?? {})) continue
      for (const rule of each.rules ?? []) found.set(JSON.stringify(rule), rule)
    }
  }
  return [...found.values()]
}
