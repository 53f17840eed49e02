/** Groups of nodes that are clusters of their own: where they come from, and what is wrong with them. Pure. */
import { byName } from '../../data/fleet/fleet.ts'

interface Condition {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
}

/** An edge.skerry.io/v1alpha1 VirtualCluster, as far as it is shown. */
export interface VirtualCluster {
  readonly metadata: {
    readonly name: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly status?: {
    readonly clusterName?: string
    readonly nodes?: { readonly total?: number; readonly ready?: number }
    readonly problems?: readonly string[]
    readonly conditions?: readonly Condition[]
  }
}

/** A source of groups; one field is set. */
export interface GroupSource {
  readonly label?: { readonly key: string }
  readonly nodeGroups?: object
  readonly nodeUnits?: object
  readonly nodePools?: object
}

export interface VirtualClusterSet {
  readonly metadata: { readonly name: string }
  readonly spec: { readonly source: GroupSource }
  readonly status?: { readonly virtualClusters?: number; readonly problems?: readonly string[] }
}

export interface NodeObject {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> }
}

/** The label of nodes by which a source makes groups; undefined if it goes by other objects. */
export function labelOf({ label, nodeGroups, nodePools }: GroupSource): string | undefined {
  if (label !== undefined) return label.key
  if (nodeGroups !== undefined) return 'apps.kubeedge.io/belonging-to'
  return nodePools === undefined ? undefined : 'apps.openyurt.io/nodepool'
}

export function sourceText(source: GroupSource): string {
  if (source.label !== undefined) return source.label.key
  if (source.nodeGroups !== undefined) return 'KubeEdge NodeGroup'
  return source.nodePools === undefined ? 'SuperEdge NodeUnit' : 'OpenYurt NodePool'
}

export interface GroupPreview {
  readonly name: string
  readonly nodes: readonly string[]
}

/** Shows the groups that a label of nodes makes, and the nodes that would be in none. */
export function groupPreview(
  key: string,
  nodes: Iterable<NodeObject>,
): { readonly groups: readonly GroupPreview[]; readonly others: readonly string[] } {
  const groups = new Map<string, string[]>()
  const others: string[] = []
  for (const { metadata } of nodes) {
    const value = metadata.labels?.[key] ?? ''
    const group = value === '' ? others : (groups.get(value) ?? [])
    if (value !== '') groups.set(value, group)
    group.push(metadata.name)
  }
  return {
    groups: [...groups]
      .map(([name, members]) => ({ name, nodes: members.toSorted(byName) }))
      .toSorted((a, b) => byName(a.name, b.name)),
    others: others.toSorted(byName),
  }
}

/** Lists what a person must look at: the problems, and the conditions that are not true. */
export function troublesOf({ metadata, status }: VirtualCluster): string[] {
  const { problems = [], conditions = [] } = status ?? {}
  const goneSince = metadata.annotations?.['edge.skerry.io/group-gone-since']
  return [
    ...problems,
    ...conditions
      .filter((condition) => condition.status !== 'True')
      .map(({ type, reason = '', message = '' }) =>
        [`${type}:`, reason, message].filter(Boolean).join(' '),
      ),
    ...(goneSince === undefined ? [] : [`group-gone-since: ${goneSince}`]),
  ]
}
