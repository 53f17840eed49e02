import type { KubeObject, Node } from '@skerry/api'
import type { KnownResource } from '@skerry/client'
import { memberTest } from '../groups/group-members.ts'
import { isReady } from '../groups/label-groups.ts'
import { byAge } from '../nodes/by-age.ts'
import type { NodeSetKind } from '../nodes/node-sets.ts'
import type { NodeSettings } from '../nodes/node-settings.ts'

/** KubeEdge's NodeGroup: a node is in one at most. */
export interface EdgeGroup extends KubeObject {
  readonly spec?: {
    readonly nodes?: readonly string[]
    readonly matchLabels?: Readonly<Record<string, string>>
    readonly topologyEnabled?: boolean
  }
  readonly status?: { readonly nodeStatuses?: readonly NodeStatus[] }
}

interface NodeStatus {
  readonly nodeName: string
  readonly readyStatus: 'Ready' | 'NotReady' | 'Unknown'
  readonly selectionStatus: 'Succeeded' | 'Failed'
  readonly selectionStatusReason?: string
}

export const edgeGroups: KnownResource<EdgeGroup> = Object.freeze({
  group: 'apps.kubeedge.io',
  version: 'v1alpha1',
  resource: 'nodegroups',
  kind: 'NodeGroup',
  isNamespaced: false,
})

/** KubeEdge's words. */
export const edgeGroupWords = Object.freeze({
  belongsTo: 'apps.kubeedge.io/belonging-to',
  zone: 'topology.kubernetes.io/zone',
})

export const edgeGroupKind: NodeSetKind<EdgeGroup> = {
  name: 'kubeedge-nodegroup-controller',
  resource: edgeGroups,
  remembersIn: 'edge.skerry.io/set-by-node-group',
  finalizer: 'apps.kubeedge.io/nodegroup-controller',
  concerns: (group, node) =>
    group.spec?.nodes?.includes(node.metadata.name ?? '') === true || wantsNode(group, node),
  settings: (node, groups) => settingsOfGroup(groupOfNode(node, groups)),
  status: edgeGroupStatus,
}

const tests = new WeakMap<EdgeGroup, (node: Node) => boolean>()

/** Returns true if the group names or selects the node. Objects of an informer never change. */
function wantsNode(group: EdgeGroup, node: Node): boolean {
  let test = tests.get(group)
  if (!test) {
    const { nodes = [], matchLabels = {} } = group.spec ?? {}
    test = memberTest({ nodes, selector: { matchLabels } })
    tests.set(group, test)
  }
  return test(node)
}

/** Returns the group of a node: the one that it is in while that wants it, or else the oldest that does. */
function groupOfNode(node: Node, groups: readonly EdgeGroup[]): EdgeGroup | undefined {
  const wanting = groups.filter(
    (group) => group.metadata.deletionTimestamp === undefined && wantsNode(group, node),
  )
  const present = node.metadata.labels?.[edgeGroupWords.belongsTo]
  return wanting.find(({ metadata }) => metadata.name === present) ?? wanting.toSorted(byAge)[0]
}

/** Returns the settings of a node's group. */
function settingsOfGroup(group: EdgeGroup | undefined): NodeSettings {
  const nothing = { annotations: {}, taints: [], isUnschedulable: false }
  if (!group) return { units: [], marks: {}, labels: {}, ...nothing }
  const { name = '' } = group.metadata
  const marks = { [edgeGroupWords.belongsTo]: name }
  const isZone = group.spec?.topologyEnabled === true
  const labels: Record<string, string> = isZone ? { ...marks, [edgeGroupWords.zone]: name } : marks
  return { units: [name], marks, labels, ...nothing }
}

/** Returns the state of each node that a group names or selects, sorted by name. */
function edgeGroupStatus(
  group: EdgeGroup,
  nodes: readonly Node[],
  groups: readonly EdgeGroup[],
): NonNullable<EdgeGroup['status']> {
  const there = new Set(nodes.map(({ metadata }) => metadata.name ?? ''))
  const missing = new Set((group.spec?.nodes ?? []).filter((name) => !there.has(name)))
  const states = [
    ...nodes.filter((node) => wantsNode(group, node)).map((node) => stateOf(group, node, groups)),
    ...[...missing].map(stateOfMissing),
  ]
  const sorted = states.toSorted((a, b) => (a.nodeName < b.nodeName ? -1 : 1))
  return sorted.length === 0 ? {} : { nodeStatuses: sorted }
}

function stateOf(group: EdgeGroup, node: Node, groups: readonly EdgeGroup[]): NodeStatus {
  const { name: nodeName = '' } = node.metadata
  const isUnready = node.status?.conditions?.some(
    ({ type, status }) => type === 'Ready' && status === 'False',
  )
  const readyStatus = isReady(node) ? 'Ready' : isUnready ? 'NotReady' : 'Unknown'
  const owner = groupOfNode(node, groups)?.metadata.name
  if (owner === group.metadata.name) {
    return { nodeName, readyStatus, selectionStatus: 'Succeeded' }
  }
  const selectionStatusReason = `node ${nodeName} has already belonged to NodeGroup ${owner}`
  return { nodeName, readyStatus, selectionStatus: 'Failed', selectionStatusReason }
}

function stateOfMissing(nodeName: string): NodeStatus {
  const selectionStatusReason = 'node does not exist'
  return { nodeName, readyStatus: 'Unknown', selectionStatus: 'Failed', selectionStatusReason }
}
