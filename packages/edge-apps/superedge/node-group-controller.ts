import { equalJson, type Node } from '@skerry/api'
import { ifThere, resources, type Change } from '@skerry/client'
import {
  addFinalizer,
  dropFinalizer,
  watch,
  type ControllerContext,
  type ControllerDefinition,
} from '@skerry/controller-runtime'
import { appliedBy } from '../children/app-controller.ts'
import { edgeAppsBounds } from '../limits-table.ts'
import { planGroup, type GroupPlan } from './group-plan.ts'
import {
  foundKeysOf,
  nodeGroups,
  nodeUnits,
  unitWords,
  type NodeGroup,
  type NodeUnit,
} from './unit.ts'

const { nodeDelayMs } = edgeAppsBounds.appController

/** Keeps the units of each group: named, selected, and made of the labels of nodes. */
export const nodeGroupController: ControllerDefinition = {
  name: 'nodegroup-controller',
  watches: [
    watch(nodeGroups, { keysOf: (_change, context) => allGroups(context) }),
    watch(nodeUnits, { keysOf: groupsOfUnitChange }),
    watch(resources.nodes, { keysOf: groupsOfNode, delayMs: nodeDelayMs }),
  ],
  // Two groups may make the same unit; one at a time sees what the other has made.
  workers: 1,
  reconcile,
}

/** A group may end or make a cycle of others. */
function allGroups(context: ControllerContext): string[] {
  return context
    .informer(nodeGroups)
    .list()
    .map(({ metadata }) => metadata.name ?? '')
}

function groupsOfUnitChange(
  { object, old }: Change<NodeUnit>,
  context: ControllerContext,
): string[] {
  return old && equalJson(old.metadata.labels, object.metadata.labels) ? [] : allGroups(context)
}

function groupsOfNode({ object, old }: Change<Node>, context: ControllerContext): string[] {
  if (old && equalJson(old.metadata.labels, object.metadata.labels)) return []
  const isFinding = (group: NodeGroup): boolean => foundKeysOf(group).length > 0
  return context
    .informer(nodeGroups)
    .list()
    .filter(isFinding)
    .map(({ metadata }) => metadata.name ?? '')
}

async function reconcile(
  name: string,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const group = context.informer(nodeGroups).get({ name })
  if (!group) return
  const { deletionTimestamp, finalizers = [] } = group.metadata
  const { groupFinalizer: finalizer } = unitWords
  if (deletionTimestamp === undefined && !finalizers.includes(finalizer)) {
    const added = { object: group, resource: nodeGroups, finalizer, fieldManager: appliedBy }
    // The write leads to the next look.
    return addFinalizer(added, context, signal)
  }
  const plan = planGroup({
    group,
    groups: context.informer(nodeGroups).list(),
    units: context.informer(nodeUnits).list(),
    nodes: context.informer(resources.nodes).list(),
  })
  await actOn(name, plan, context, signal)
  if (deletionTimestamp !== undefined) {
    return dropFinalizer({ object: group, resource: nodeGroups, finalizer }, context, signal)
  }
  if (equalJson(group.status ?? {}, plan.status)) return
  await ifThere(context.client(nodeGroups).updateStatus({ ...group, status: plan.status }, signal))
}

async function actOn(
  group: string,
  { create, join, leave }: GroupPlan,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const client = context.client(nodeUnits)
  for (const unit of create) await client.create(unit, signal, { fieldManager: appliedBy })
  const labelled = async (name: string, value: string | null): Promise<void> => {
    const patch = { metadata: { labels: { [group]: value } } }
    await ifThere(client.patch({ name, type: 'merge', patch, fieldManager: appliedBy }, signal))
  }
  for (const name of join) await labelled(name, unitWords.grouped)
  for (const name of leave) await labelled(name, null)
}
