import type { Node } from '@skerry/api'

/** The labels of each node, by the node's name. */
export type NodeLabels = Readonly<Record<string, Readonly<Record<string, string>>>>

export const zoneKey = 'topology.kubernetes.io/zone'

export function nodeLabelsOf(nodes: readonly Node[]): NodeLabels {
  return Object.fromEntries(
    nodes.map(({ metadata }) => [metadata.name ?? '', metadata.labels ?? {}]),
  )
}

/** Returns the labels with these keys alone, which is all that a snapshot needs. */
export function withKeys(nodes: NodeLabels, keys: ReadonlySet<string>): NodeLabels {
  const kept = (labels: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(labels).filter(([key]) => keys.has(key)))
  return Object.fromEntries(Object.entries(nodes).map(([name, labels]) => [name, kept(labels)]))
}
