import { equalJson, type KubeObject, type Node, type Taint } from '@skerry/api'
import type { KnownResource } from '@skerry/client'
import { isReady } from '../groups/label-groups.ts'
import type { NodeSetKind } from '../nodes/node-sets.ts'
import type { NodeSettings } from '../nodes/node-settings.ts'

/** OpenYurt's NodePool: a node joins it by a label of its own. */
export interface NodePool extends KubeObject {
  readonly spec?: {
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
    readonly taints?: readonly Taint[]
    readonly enableLeaderElection?: boolean
    /** `mark` asks for nodes with certain labels. */
    readonly leaderElectionStrategy?: string
    readonly leaderNodeLabelSelector?: Readonly<Record<string, string>>
    readonly leaderReplicas?: number
  }
  readonly status?: {
    readonly readyNodeNum?: number
    readonly unreadyNodeNum?: number
    readonly nodes?: readonly string[]
    readonly leaderEndpoints?: readonly Leader[]
    readonly leaderNum?: number
  }
}

/** A node of a pool that asks the control plane for the others, as OpenYurt's hubs do. */
interface Leader {
  readonly nodeName: string
  readonly address: string
}

export const nodePools: KnownResource<NodePool> = Object.freeze({
  group: 'apps.openyurt.io',
  version: 'v1beta2',
  resource: 'nodepools',
  kind: 'NodePool',
  isNamespaced: false,
})

/** The label of a node by which it joins a pool. */
export const joins = 'apps.openyurt.io/nodepool'

/** The annotation in which OpenYurt's own controller remembers what it has set on a node. */
const previousAttributes = 'nodepool.openyurt.io/previous-attributes'

export const nodePoolKind: NodeSetKind<NodePool> = {
  name: 'nodepool-controller',
  resource: nodePools,
  remembersIn: 'edge.skerry.io/set-by-node-pool',
  concerns: isIn,
  settings: (node, pools) =>
    settingsOfPool(
      node,
      pools.find((pool) => pool.metadata.deletionTimestamp === undefined && isIn(pool, node)),
    ),
  status: statusOf,
}

/** A pool does not set the label by which nodes choose their pool: it would send them to another one. */
function settingsOfPool({ metadata }: Node, pool: NodePool | undefined): NodeSettings {
  const { labels = {}, annotations = {}, taints = [] } = pool?.spec ?? {}
  const { [joins]: _joins, ...own } = labels
  const name = pool?.metadata.name ?? ''
  const wasSet = metadata.annotations?.[previousAttributes] !== undefined
  return {
    units: pool ? [name] : [],
    marks: pool && wasSet ? { [joins]: name } : {},
    labels: own,
    annotations,
    taints,
    isUnschedulable: false,
  }
}

function isIn(pool: NodePool, { metadata }: Node): boolean {
  return metadata.labels?.[joins] === pool.metadata.name
}

function statusOf(pool: NodePool, all: readonly Node[]): NonNullable<NodePool['status']> {
  const nodes = all.filter((node) => isIn(pool, node))
  const readyNodeNum = nodes.filter(isReady).length
  const names = nodes.map(({ metadata }) => metadata.name ?? '').toSorted()
  return {
    readyNodeNum,
    unreadyNodeNum: nodes.length - readyNodeNum,
    ...(names.length === 0 ? {} : { nodes: names }),
    ...leadersOf(pool, nodes),
  }
}

/** A leader stays one while it is ready. OpenYurt chooses others at random, and here they come by name. */
function leadersOf(
  { spec = {}, status = {} }: NodePool,
  nodes: readonly Node[],
): Pick<NonNullable<NodePool['status']>, 'leaderEndpoints' | 'leaderNum'> {
  const { enableLeaderElection = false, leaderReplicas = 1 } = spec
  if (!enableLeaderElection) return {}
  const wanted = spec.leaderElectionStrategy === 'mark' ? spec.leaderNodeLabelSelector : {}
  const isMarked = ({ metadata: { labels = {} } }: Node): boolean =>
    Object.entries(wanted ?? {}).every(([key, value]) => labels[key] === value)
  const able = nodes
    .filter((node) => isReady(node) && isMarked(node))
    .flatMap(leaderAt)
    .toSorted((a, b) => (a.nodeName < b.nodeName ? -1 : 1))
  const isAble = (leader: Leader): boolean => able.some((each) => equalJson(each, leader))
  const kept = (status.leaderEndpoints ?? []).filter(isAble)
  const others = able.filter((each) => !kept.some((leader) => equalJson(each, leader)))
  const leaderEndpoints = [...kept, ...others].slice(0, leaderReplicas)
  return { leaderEndpoints, leaderNum: leaderEndpoints.length }
}

function leaderAt({ metadata: { name = '' }, status }: Node): Leader[] {
  const internal = (status?.addresses ?? []).find(({ type }) => type === 'InternalIP')
  return internal === undefined ? [] : [{ nodeName: name, address: internal.address }]
}
