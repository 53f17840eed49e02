import { isIPv4 } from 'node:net'
import type { Node, Service } from '@skerry/api'
import { serviceBalancer } from '@skerry/service-proxy'
import { conditionOf } from '../nodes/node-health.ts'

/** A node that may take part in balancing. */
export interface BalancingNode {
  readonly name: string
  readonly address: string
  readonly labels: Readonly<Record<string, string>>
  /** Ports of services that something on the node uses, e.g. `22/tcp`. */
  readonly usedPorts: ReadonlySet<string>
}

/** KEP-1143: a node with this label, whatever its value, is left out. */
const excluded = 'node.kubernetes.io/exclude-from-external-load-balancers'

/** Returns the nodes that may have addresses of services now, in the order of their names. */
export function balancingNodes(nodes: readonly Node[]): BalancingNode[] {
  const isSelected = ({ metadata: { labels = {} } }: Node): boolean =>
    serviceBalancer.enabledLabels.some((label) => labels[label] === 'true')
  const hasSelection = nodes.some(isSelected)
  return nodes
    .filter((node) => isUsable(node) && (!hasSelection || isSelected(node)))
    .flatMap(({ metadata, status }) => {
      const { name = '', labels = {}, annotations = {} } = metadata
      const found = (status?.addresses ?? []).find(
        ({ type, address }) => type === 'InternalIP' && isIPv4(address),
      )
      const used = annotations[serviceBalancer.usedPorts] ?? ''
      const usedPorts = new Set(used.split(',').filter((port) => port !== ''))
      return found ? [{ name, address: found.address, labels, usedPorts }] : []
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

function isUsable(node: Node): boolean {
  const { labels = {}, deletionTimestamp } = node.metadata
  const isReady = conditionOf(node, 'Ready')?.status === 'True'
  return isReady && deletionTimestamp === undefined && !(excluded in labels)
}

/** Returns the pool that a service names, as label and value. */
export function poolOf({
  metadata: { labels = {} },
}: Service): readonly [string, string] | undefined {
  for (const label of serviceBalancer.poolLabels) {
    const value = labels[label]
    if (value !== undefined) return [label, value]
  }
  return undefined
}

/** Reports whether changes of a node concern balancing; heartbeats do not. */
export function isSameForBalancing(one: Node, other: Node): boolean {
  return balancingText(one) === balancingText(other)
}

function balancingText(node: Node): string {
  const { labels, annotations, deletionTimestamp } = node.metadata
  return JSON.stringify([
    labels,
    deletionTimestamp,
    annotations?.[serviceBalancer.usedPorts],
    node.status?.addresses,
    conditionOf(node, 'Ready')?.status,
  ])
}
