import { labelSelectorOf, type LabelSelectorFields, type Node } from '@skerry/api'

/** The nodes of a group, by name or by their labels. */
export interface Membership {
  /** Names of nodes; those that do not exist are not an error. */
  readonly nodes?: readonly string[]
  readonly selector?: LabelSelectorFields
}

/** Returns a test for nodes. A selector without requirements selects none. */
export function memberTest({ nodes = [], selector = {} }: Membership): (node: Node) => boolean {
  const named = new Set(nodes)
  const parsed = labelSelectorOf(selector)
  return (node) =>
    named.has(node.metadata.name ?? '') || (!parsed.isEmpty && parsed.matches(node.metadata.labels))
}
