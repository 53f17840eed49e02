import { equalJson, type Node } from '@skerry/api'
import { ifThere, resources, type Change } from '@skerry/client'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
} from '@skerry/controller-runtime'
import { appliedBy } from '../children/app-controller.ts'
import { planNode, remembered, settingsOf } from './node-settings.ts'
import { byAge, isActive, isMember, nodeUnits, type NodeUnit } from './unit.ts'

/** The index of nodes by the units whose settings they have. */
export const byUnit = 'edgeUnit'

export function unitIndex(node: Node): readonly string[] {
  return remembered(node).units
}

/** Gives each node what its units set, and takes it back. */
export const nodeSettingsController: ControllerDefinition = {
  name: 'nodeunit-settings-controller',
  watches: [
    watch(resources.nodes, { keysOf: nodesOfNode, indexes: { [byUnit]: unitIndex } }),
    watch(nodeUnits, { keysOf: nodesOfUnit }),
  ],
  reconcile,
}

/** Returns the units of a node, the oldest first. */
export function unitsOf(node: Node, context: ControllerContext): NodeUnit[] {
  return context
    .informer(nodeUnits)
    .list()
    .filter((unit) => isActive(unit) && isMember(unit, node))
    .toSorted(byAge)
}

function nodesOfNode({ object, old, type }: Change<Node>): string[] {
  if (type === 'deleted') return []
  const settable = ({ metadata, spec }: Node): object => [
    metadata.labels ?? {},
    metadata.annotations ?? {},
    spec ?? {},
  ]
  if (old && equalJson(settable(old), settable(object))) return []
  return [object.metadata.name ?? '']
}

function nodesOfUnit({ object, old }: Change<NodeUnit>, context: ControllerContext): string[] {
  const isSame = old && equalJson([old.spec, old.metadata], [object.spec, object.metadata])
  if (isSame) return []
  const nodes = context.informer(resources.nodes)
  const members = nodes
    .list()
    .filter((node) => isMember(object, node) || (old !== undefined && isMember(old, node)))
  const named = [...members, ...nodes.byIndex(byUnit, object.metadata.name ?? '')]
  return [...new Set(named.map(({ metadata }) => metadata.name ?? ''))]
}

async function reconcile(
  name: string,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const node = context.informer(resources.nodes).get({ name })
  if (!node) return
  const planned = planNode(node, settingsOf(unitsOf(node, context)))
  if (!planned) return
  // Taints are replaced as a list, so that the node must not have changed meanwhile.
  const { resourceVersion } = node.metadata
  const patch = { ...planned, metadata: { ...planned.metadata, resourceVersion } }
  const request = { name, type: 'merge', patch, fieldManager: appliedBy } as const
  await ifThere(context.client(resources.nodes).patch(request, signal))
}
