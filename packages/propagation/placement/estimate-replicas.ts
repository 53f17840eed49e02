import { quantityToMilli, quantityToNumber } from '@skerry/api'
import type { BindingSpec, ReplicaRequirements } from '@skerry/karmada-kinds'
import type { Cluster, ResourceSummary } from '@skerry/fleet-kinds'
import { estimateSets } from './estimate-sets.ts'
import { modelNodes } from './model-nodes.ts'
import { replicasOn } from './node-room.ts'
import { availableQuantity, podsLeft } from './resource-summary.ts'

/** More than any estimate: upstream's largest count. */
export const replicasUnbounded = 2_147_483_647

/**
 * Estimates how many more replicas a cluster can take, from its own status: any number for an object without
 * replicas, and none for a cluster that reports nothing.
 */
export function estimateReplicas(cluster: Cluster, spec: BindingSpec): number {
  const { replicas = 0, components = [] } = spec
  if (replicas === 0 && components.length === 0) return replicasUnbounded
  const summary = cluster.status?.resourceSummary
  if (summary === undefined) return 0
  if (placesOneSet(spec)) return estimateSets(cluster, summary, components)
  return estimateOne(cluster, summary, spec.replicaRequirements)
}

/** Reports whether all components are placed together in one cluster, and so estimated as one set. */
export function placesOneSet({ components = [], placement }: BindingSpec): boolean {
  const constraints = placement?.spreadConstraints ?? []
  return (
    components.length > 0 &&
    constraints.some(
      ({ spreadByField, minGroups, maxGroups }) =>
        spreadByField === 'cluster' && minGroups === 1 && maxGroups === 1,
    )
  )
}

function estimateOne(
  cluster: Cluster,
  summary: ResourceSummary,
  requirements: ReplicaRequirements | undefined,
): number {
  const pods = podsLeft(summary)
  if (pods === 0 || requirements === undefined) return pods
  const request = requirements.resourceRequest ?? {}
  const nodes = modelNodes(cluster)
  if (nodes === undefined) return Math.min(pods, replicasInSummary(summary, request))
  return nodes.reduce((sum, node) => Math.min(pods, sum + replicasOn(node, request)), 0)
}

/** Treats the whole cluster as one node. */
function replicasInSummary(
  summary: ResourceSummary,
  request: Readonly<Record<string, string>>,
): number {
  const counts = Object.entries(request).map(([name, text]) => {
    if (quantityToNumber(text) <= 0) return replicasUnbounded
    const available = availableQuantity(summary, name)
    if (available === undefined || quantityToNumber(available) <= 0) return 0
    const measure = name === 'cpu' ? quantityToMilli : quantityToNumber
    return Math.floor(measure(available) / measure(text))
  })
  return Math.min(replicasUnbounded, ...counts)
}
