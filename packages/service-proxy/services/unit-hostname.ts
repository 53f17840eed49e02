import type { Endpoint, Service } from '@skerry/api'
import type { NodeLabels } from './node-labels.ts'

/** SuperEdge's label with the key by whose values a ServiceGrid divides the nodes into units. */
const unitKeyLabel = 'superedge.io/grid-uniq-key'

/**
 * Returns the name that the pod of a StatefulSetGrid has within its unit: `pg-shanghai-0` is also `pg-0` there, as in every
 * other unit. Returns undefined for other endpoints.
 */
export function unitHostname(
  { metadata }: Service,
  { hostname, nodeName }: Endpoint,
  nodes: NodeLabels,
): string | undefined {
  const key = metadata.labels?.[unitKeyLabel]
  const unit = key === undefined ? undefined : nodes[nodeName ?? '']?.[key]
  if (!unit || hostname === undefined) return undefined
  const { grid, ordinal } = /^(?<grid>.+)-(?<ordinal>\d+)$/.exec(hostname)?.groups ?? {}
  const end = `-${unit}`
  return grid?.endsWith(end) ? `${grid.slice(0, -end.length)}-${ordinal}` : undefined
}
