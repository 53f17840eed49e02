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

export const nodePoolKind: NodeSetKind<NodePool> = {
  name: 'nodepool-controller',
  resource: nodePools,
  remembersIn: 'edge.skerry.io/set-by-node-pool',
  concerns: isIn,
  settings: (node, pools) =>
    settingsOfPool(
      pools.find((pool) => pool.metadata.deletionTimestamp === undefined && isIn(pool, node)),
    ),
  status: statusOf,
}

/** A pool does not set the label by which nodes choose their pool: it would send them to another one. */
function settingsOfPool(pool: NodePool | undefined): NodeSettings {
  const { labels = {}, annotations = {}, taints = [] } = pool?.spec ?? {}
  const { [joins]: _joins, ...own } = labels
  const units = pool ? [pool.metadata.name ?? ''] : []
  return { units, marks: {}, labels: own, annotations, taints, isUnschedulable: false }
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
