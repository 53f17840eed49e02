import { aggregatedRules, equalJson, type ClusterRole } from '@skerry/api'
import { keyOfObject, parseKey, resources } from '@skerry/client'
import { watch, type ControllerDefinition } from '@skerry/controller-runtime'
import { controllerBounds } from '../limits-table.ts'

/** Gives a role with an aggregation rule the rules of all the roles that the rule selects. */
export const clusterRoleAggregationController: ControllerDefinition = {
  name: 'clusterrole-aggregation-controller',
  watches: [
    watch(resources.clusterRoles, {
      // Adding or removing a label changes the rules of every aggregated role.
      keysOf: (_, context) =>
        context.informer(resources.clusterRoles).list().filter(isAggregated).map(keyOfObject),
      delayMs: controllerBounds.clusterRoleAggregationController.settleMs,
    }),
  ],
  async reconcile(key, context, signal) {
    const role = context.informer(resources.clusterRoles).get(parseKey(key))
    if (role === undefined || !isAggregated(role)) return
    const rules = aggregatedRules(role, context.informer(resources.clusterRoles).list())
    if (equalJson(rules, role.rules ?? [])) return
    await context.client(resources.clusterRoles).update({ ...role, rules }, signal)
  },
}

function isAggregated({ aggregationRule }: ClusterRole): boolean {
  return aggregationRule !== undefined
}
