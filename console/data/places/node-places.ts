/** Places of one cluster: groups of its nodes, by the kinds of SuperEdge, KubeEdge and OpenYurt. Pure. */
import { byName } from '../fleet/fleet.ts'
import type { ObjectName, ResourceName } from '../hub/api-paths.ts'
import type { DiscoveredKind } from '../objects/discovered-kinds.ts'

interface Condition {
  readonly type: string
  readonly status: string
  readonly message?: string
  readonly lastTransitionTime?: string
}

/** A node, as far as it is read here. */
export interface PlacedNode {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> }
  readonly status?: { readonly conditions?: readonly Condition[] }
}

/** A NodeUnit, NodeGroup or NodePool, as far as it is shown. */
export interface PlaceObject {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string }
  readonly spec?: { readonly nodes?: readonly string[] }
  readonly status?: {
    readonly nodeUnits?: readonly string[]
    readonly conditions?: readonly Condition[]
    readonly nodeStatuses?: readonly {
      readonly nodeName: string
      readonly selectionStatus?: string
      readonly selectionStatusReason?: string
    }[]
    /** Set while a unit is a cluster of its own, on its way, or kept from it. */
    readonly unitClusterStatus?: {
      readonly phase?: string
      readonly addresses?: readonly { readonly host: string }[]
      readonly conditions?: readonly Condition[]
    }
  }
}

interface PlaceKind {
  readonly system: 'SuperEdge' | 'KubeEdge' | 'OpenYurt'
  readonly group: string
  readonly resource: string
  /** Returns the label that each node of a place has. A value that is undefined may be any but the empty one. */
  readonly label: (place: string) => readonly [key: string, value: string | undefined]
}

export const placeKinds: readonly PlaceKind[] = [
  {
    system: 'SuperEdge',
    group: 'site.superedge.io',
    resource: 'nodeunits',
    label: (place) => [place, 'nodeunits.superedge.io'],
  },
  {
    system: 'SuperEdge',
    group: 'site.superedge.io',
    resource: 'nodegroups',
    label: (place) => [place, undefined],
  },
  {
    system: 'KubeEdge',
    group: 'apps.kubeedge.io',
    resource: 'nodegroups',
    label: (place) => ['apps.kubeedge.io/belonging-to', place],
  },
  {
    system: 'OpenYurt',
    group: 'apps.openyurt.io',
    resource: 'nodepools',
    label: (place) => ['apps.openyurt.io/nodepool', place],
  },
]

/** Returns the name of a kind as the cluster serves it, or undefined if it does not. */
export function servedAs(
  kinds: readonly DiscoveredKind[] | undefined,
  { group, resource }: Pick<ResourceName, 'group' | 'resource'>,
): DiscoveredKind | undefined {
  return kinds?.find((each) => each.group === group && each.resource === resource)
}

export interface PlaceRow {
  readonly key: string
  readonly system: PlaceKind['system']
  readonly kind: string
  readonly object: ObjectName
  readonly nodes: readonly { readonly name: string; readonly isReady: boolean }[]
  readonly ready: number
  /** The units of a group. */
  readonly units: readonly string[]
  /** The addresses of a unit that is a cluster of its own. */
  readonly ownServers: readonly string[]
  /** Conflicts and other faults, in the words of the cluster. */
  readonly problems: readonly string[]
  /** Nodes that the place names and the cluster does not have. */
  readonly missing: readonly string[]
  readonly isLeaving: boolean
}

/** Lists the places of one kind with the nodes that have their label now. */
export function placeRows(
  { system, label }: PlaceKind,
  served: DiscoveredKind,
  places: readonly PlaceObject[],
  nodes: readonly PlacedNode[],
): PlaceRow[] {
  const { group, version, resource, kind } = served
  const there = new Set(nodes.map(({ metadata }) => metadata.name))
  return places.map(({ metadata: { name, deletionTimestamp }, spec, status = {} }) => {
    const [key, value] = label(name)
    const members = nodes
      .filter(({ metadata: { labels = {} } }) => {
        const has = Object.hasOwn(labels, key) ? labels[key] : ''
        return value === undefined ? has !== '' : has === value
      })
      .map((node) => ({ name: node.metadata.name, isReady: isReady(node) }))
      .toSorted((a, b) => byName(a.name, b.name))
    return {
      key: `${system} ${kind} ${name}`,
      system,
      kind,
      object: { group, version, resource, name },
      nodes: members,
      ready: members.filter((node) => node.isReady).length,
      units: status.nodeUnits ?? [],
      ownServers: (status.unitClusterStatus?.addresses ?? []).map(({ host }) => host),
      problems: problemsOf(status),
      missing: (spec?.nodes ?? []).filter((node) => !there.has(node)),
      isLeaving: deletionTimestamp !== undefined,
    }
  })
}

/** SuperEdge's conditions are faults; KubeEdge says of each node whether it could be taken. */
function problemsOf({
  conditions = [],
  nodeStatuses = [],
  unitClusterStatus: { phase = '', conditions: steps = [] } = {},
}: NonNullable<PlaceObject['status']>): string[] {
  return [
    // A unit that failed has a condition that says the same.
    ...(phase === 'Failed' ? [] : steps)
      .filter(({ status }) => status !== 'True')
      .map(({ message = '' }) => message),
    ...conditions
      .filter(({ type, status }) => status === 'True' && type !== 'Ready')
      .map(({ type, message = '' }) => (message === '' ? type : `${type}: ${message}`)),
    ...nodeStatuses
      .filter(({ selectionStatus }) => selectionStatus === 'Failed')
      .map(({ nodeName, selectionStatusReason = '' }) => `${nodeName}: ${selectionStatusReason}`),
  ]
}

function isReady({ status }: PlacedNode): boolean {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  return ready?.status === 'True'
}

/** Lists the nodes that are in none of these places. */
export function nodesWithoutPlace(
  rows: readonly PlaceRow[],
  nodes: readonly PlacedNode[],
): string[] {
  const placed = new Set(rows.flatMap((row) => row.nodes.map(({ name }) => name)))
  return nodes
    .map(({ metadata }) => metadata.name)
    .filter((name) => !placed.has(name))
    .toSorted(byName)
}
