import type { Node } from '@skerry/api'
import { neighbourBounds } from './limits-table.ts'

/** A node of the same group, and where it answers. */
export interface Neighbour {
  readonly name: string
  readonly address: string
  readonly port: number
}

const { membersMax } = neighbourBounds.group

/** Returns the names of the nodes of each group: those with the same value of the label. A node without it has no group. */
export function groupsBy(label: string, nodes: readonly Node[]): ReadonlyMap<string, string[]> {
  const groups = new Map<string, string[]>()
  for (const { metadata } of nodes.toSorted(byName)) {
    const value = metadata.labels?.[label]
    if (!value) continue
    const members = groups.get(value) ?? []
    if (members.length < membersMax) members.push(metadata.name ?? '')
    groups.set(value, members)
  }
  return groups
}

/** Returns the group of this node, itself included; empty if it has none. Nodes without an address are left out. */
export function neighboursOf(
  nodeName: string,
  label: string,
  nodes: readonly Node[],
): readonly Neighbour[] {
  const members = [...groupsBy(label, nodes).values()].find((names) => names.includes(nodeName))
  const names = new Set(members)
  return nodes.filter(({ metadata }) => names.has(metadata.name ?? '')).flatMap(neighbourOf)
}

function neighbourOf({ metadata, status }: Node): Neighbour[] {
  const { address } = status?.addresses?.find(({ type }) => type === 'InternalIP') ?? {}
  const port = status?.daemonEndpoints?.kubeletEndpoint?.Port
  if (address === undefined || port === undefined) return []
  return [{ name: metadata.name ?? '', address, port }]
}

function byName(a: Node, b: Node): number {
  return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1
}
