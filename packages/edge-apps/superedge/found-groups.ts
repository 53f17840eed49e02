import { createHash } from 'node:crypto'
import type { Node } from '@skerry/api'

/** A group that nodes' labels ask for. */
export interface FoundGroup {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
}

/** Makes a group of each combination of values that a node has; only nodes with all keys count. */
export function findGroups(keys: readonly string[], nodes: readonly Node[]): FoundGroup[] {
  const sorted = [...new Set(keys)].toSorted()
  if (sorted.length === 0) return []
  const found = new Map<string, FoundGroup>()
  for (const { metadata } of nodes) {
    const values = sorted.map((key) => metadata.labels?.[key] ?? '')
    if (values.includes('')) continue
    const name = foundName(values)
    const labels = Object.fromEntries(sorted.map((key, at) => [key, values[at] ?? '']))
    if (!found.has(name)) found.set(name, { name, labels })
  }
  return [...found.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** Joins the values in the order of the sorted keys; a text that cannot be a name is hashed, as upstream does. */
function foundName(values: readonly string[]): string {
  const text = values.join('-')
  return text.includes('/') || text.length >= 64 ? sha1(text) : text
}

/** Marks units that were found by the same keys. */
export function keysHash(keys: readonly string[]): string {
  return sha1([...new Set(keys)].toSorted().join(''))
}

function sha1(text: string): string {
  return createHash('sha1').update(text).digest('hex')
}
