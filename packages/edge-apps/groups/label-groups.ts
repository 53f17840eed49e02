import type { Node } from '@skerry/api'
import type { Group } from './group.ts'

/**
 * Makes a group of each value of the label. Every node counts, ready or not; an empty value is not a group. The result
 * is sorted by name.
 */
export function groupsByLabel(key: string, nodes: readonly Node[]): Group[] {
  const counts = new Map<string, { nodes: number; readyNodes: number }>()
  for (const node of nodes) {
    const value = node.metadata.labels?.[key] ?? ''
    if (value === '') continue
    const count = counts.get(value) ?? { nodes: 0, readyNodes: 0 }
    count.nodes += 1
    if (isReady(node)) count.readyNodes += 1
    counts.set(value, count)
  }
  return [...counts]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, count]) => ({ name, nodeSelector: { [key]: name }, ...count }))
}

export function isReady({ status }: Node): boolean {
  return (
    status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true
  )
}
