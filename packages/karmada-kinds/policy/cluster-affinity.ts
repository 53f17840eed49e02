import {
  LabelSelector,
  isStatusError,
  labelSelectorOf,
  type LabelSelectorFields,
} from '@skerry/api'
import type { Cluster } from '@skerry/fleet-kinds'
import type { ClusterAffinity } from './propagation-policy.ts'

/**
 * Whether a policy that names clusters so means this one: it is not excluded, and its name, its
 * labels and its fields all match as far as they are asked for. An absent affinity means every
 * cluster; a selector that cannot be read means none.
 */
export function matchesAffinity(cluster: Cluster, affinity: ClusterAffinity | undefined): boolean {
  if (affinity === undefined) return true
  const { clusterNames = [], exclude = [], labelSelector, fieldSelector } = affinity
  const name = cluster.metadata.name ?? ''
  if (exclude.includes(name)) return false
  if (clusterNames.length > 0 && !clusterNames.includes(name)) return false
  if (labelSelector && !matchesLabels(labelSelector, cluster.metadata.labels)) return false
  return (fieldSelector?.matchExpressions ?? []).every((each) => matchesField(cluster, each))
}

type FieldExpression = NonNullable<
  NonNullable<ClusterAffinity['fieldSelector']>['matchExpressions']
>[number]

function matchesField({ spec }: Cluster, expression: FieldExpression): boolean {
  if (expression.key === 'zone') return matchesZones(spec.zones ?? [], expression)
  const { provider, region } = spec
  const fields = { ...(provider ? { provider } : {}), ...(region ? { region } : {}) }
  return (
    matchesOrdered(fields, expression) ?? matchesLabels({ matchExpressions: [expression] }, fields)
  )
}

/** Matches the zones of a cluster; one of several suffices. */
function matchesZones(zones: readonly string[], { operator, values = [] }: FieldExpression) {
  switch (operator) {
    case 'In':
      return zones.some((zone) => values.includes(zone))
    case 'NotIn':
      return !zones.some((zone) => values.includes(zone))
    case 'Exists':
      return zones.length > 0
    case 'DoesNotExist':
      return zones.length === 0
    default:
      return false
  }
}

/** Returns undefined unless the operator is Gt or Lt, which node selectors have and label selectors lack. */
function matchesOrdered(
  fields: Readonly<Record<string, string>>,
  { key, operator, values = [] }: FieldExpression,
): boolean | undefined {
  if (operator !== 'Gt' && operator !== 'Lt') return undefined
  if (values.length !== 1) return false
  const requirement = { key, operator: operator === 'Gt' ? 'gt' : 'lt', values } as const
  return new LabelSelector([requirement]).matches(fields)
}

function matchesLabels(
  selector: LabelSelectorFields,
  labels: Readonly<Record<string, string>> | undefined,
): boolean {
  try {
    return labelSelectorOf(selector).matches(labels)
  } catch (error) {
    if (isStatusError(error, 'BadRequest')) return false
    throw error
  }
}
