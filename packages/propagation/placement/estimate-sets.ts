import { parseQuantity, quantityToMilli, quantityToNumber, type Quantity } from '@skerry/api'
import type { BindingComponent } from '@skerry/karmada-kinds'
import type { Cluster, ResourceSummary } from '@skerry/fleet-kinds'
import { modelNodes } from './model-nodes.ts'
import { replicasOn, withReplicas, type NodeRoom } from './node-room.ts'
import { availableQuantity, podsLeft } from './resource-summary.ts'

/** Estimates how many full sets of components fit into the cluster. */
export function estimateSets(
  cluster: Cluster,
  summary: ResourceSummary,
  components: readonly BindingComponent[],
): number {
  const pods = podsLeft(summary)
  const podsOfSet = components.reduce((sum, { replicas }) => sum + replicas, 0)
  if (pods === 0 || podsOfSet <= 0) return pods
  const bySummary = Math.min(
    Math.floor(pods / podsOfSet),
    ...requestsOf(components).map(([name, amount]) => {
      const available = availableQuantity(summary, name)
      return available === undefined ? 0 : Math.max(0, Math.floor(amountOf(available) / amount))
    }),
  )
  const nodes = modelNodes(cluster)
  return nodes === undefined || bySummary === 0 ? bySummary : setsOn(nodes, components, bySummary)
}

/** Sums what one set requests of each resource, leaving out zeros. */
function requestsOf(components: readonly BindingComponent[]): [name: string, amount: number][] {
  const sums = new Map<string, number>()
  for (const { replicas, replicaRequirements } of components) {
    for (const [name, text] of Object.entries(replicaRequirements?.resourceRequest ?? {})) {
      sums.set(name, (sums.get(name) ?? 0) + amountOf(parseQuantity(text)) * replicas)
    }
  }
  return [...sums].filter(([, amount]) => amount > 0)
}

/**
 * Counts binary quantities in whole units and all others in thousandths, as upstream does. A request in the
 * other format than the cluster's therefore counts as a thousandth, or a thousandfold.
 */
function amountOf(quantity: Quantity): number {
  return quantity.format === 'BinarySI' ? quantityToNumber(quantity) : quantityToMilli(quantity)
}

/** Fills nodes from the first on, set by set; a set that does not fit whole ends it. */
function setsOn(
  nodes: readonly NodeRoom[],
  components: readonly BindingComponent[],
  setsMax: number,
): number {
  const rooms = [...nodes]
  for (let sets = 0; sets < setsMax; sets += 1) {
    if (!components.every((component) => fill(rooms, component))) return sets
  }
  return setsMax
}

function fill(rooms: NodeRoom[], { replicas, replicaRequirements }: BindingComponent): boolean {
  const request = replicaRequirements?.resourceRequest ?? {}
  let left = replicas
  for (const [at, room] of rooms.entries()) {
    const count = Math.min(left, replicasOn(room, request))
    if (count <= 0) continue
    rooms[at] = withReplicas(room, request, count)
    left -= count
    if (left === 0) return true
  }
  return left === 0
}
