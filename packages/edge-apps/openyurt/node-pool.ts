import type { KubeObject, Node, Taint } from '@skerry/api'
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
  }
  readonly status?: {
    readonly readyNodeNum?: number
    readonly unreadyNodeNum?: number
    readonly nodes?: readonly string[]
  }
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
  }
}
