import type { ClusterRole } from '@skerry/api'
import { ownerLabel, type DefinedKind } from './definition.ts'

const readVerbs = ['get', 'list', 'watch']
const writeVerbs = [...readVerbs, 'create', 'update', 'patch', 'delete', 'deletecollection']

/**
 * Returns the roles for these kinds. Kubernetes adds the first two to its own roles: `view` shows all kinds, and `edit` and
 * `admin` write those of a namespace. Kinds of the whole cluster set labels and taints of nodes, so that only the third
 * role, which nobody has by itself, lets a person write them.
 */
export function accessRoles(kinds: readonly DefinedKind[]): ClusterRole[] {
  const namespaced = kinds.filter(({ resource }) => resource.isNamespaced)
  const ofCluster = kinds.filter(({ resource }) => !resource.isNamespaced)
  return [
    roleOf('skerry-edge-apps-view', rulesOf(kinds, readVerbs), ['view']),
    roleOf('skerry-edge-apps-edit', rulesOf(namespaced, writeVerbs), ['edit', 'admin']),
    roleOf('skerry-edge-apps-nodes-edit', rulesOf(ofCluster, writeVerbs), []),
  ]
}

function roleOf(
  name: string,
  rules: NonNullable<ClusterRole['rules']>,
  aggregatesTo: readonly string[],
): ClusterRole {
  const aggregated = aggregatesTo.map((to) => [
    `rbac.authorization.k8s.io/aggregate-to-${to}`,
    'true',
  ])
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name, labels: { [ownerLabel]: 'true', ...Object.fromEntries(aggregated) } },
    rules,
  }
}

/** Makes one rule for each API group, in the order of the kinds. */
function rulesOf(
  kinds: readonly DefinedKind[],
  verbs: readonly string[],
): NonNullable<ClusterRole['rules']> {
  return [...Map.groupBy(kinds, ({ resource }) => resource.group)].map(([group, some]) => ({
    apiGroups: [group],
    resources: some.map(({ resource }) => resource.resource),
    verbs: [...verbs],
  }))
}
