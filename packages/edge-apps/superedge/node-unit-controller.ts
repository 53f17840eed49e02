import { RecentMap } from '@skerry/base'
import { equalJson, type Node } from '@skerry/api'
import { ifThere, resources, type Change } from '@skerry/client'
import {
  addFinalizer,
  dropFinalizer,
  watch,
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
} from '@skerry/controller-runtime'
import { appliedBy } from '../children/app-controller.ts'
import { isReady } from '../groups/label-groups.ts'
import { edgeAppsBounds } from '../limits-table.ts'
import { bySet } from '../nodes/node-settings-controller.ts'
import { remembered } from '../nodes/node-settings.ts'
import { nodeUnitSettings, unitsOf } from './unit-nodes.ts'
import { unitStatus } from './unit-status.ts'
import { isActive, isMember, nodeUnits, unitWords, type NodeUnit } from './unit.ts'

const { nodeDelayMs } = edgeAppsBounds.appController
const { remembersIn } = nodeUnitSettings
const { reportMsPerNode, reportsMax } = edgeAppsBounds.nodeUnitController

/** Creates the controller that reports each unit, and lets one go when no node has its settings any more. */
export function nodeUnitController(): ControllerDefinition {
  const reports: Reports = new RecentMap(reportsMax)
  return {
    name: 'nodeunit-controller',
    watches: [
      watch(nodeUnits, { keysOf: ({ object }) => [object.metadata.name ?? ''] }),
      watch(resources.nodes, {
        keysOf: unitsOfNode,
        indexes: bySet(nodeUnitSettings),
        delayMs: nodeDelayMs,
      }),
    ],
    reconcile: (name, context, signal) => reconcile({ name, reports }, context, signal),
  }
}

/** The monotonic time at which a unit may be reported again. */
type Reports = RecentMap<string, number>

function unitsOfNode({ object, old }: Change<Node>, context: ControllerContext): string[] {
  const isSame =
    old !== undefined &&
    isReady(old) === isReady(object) &&
    equalJson([old.metadata.labels, settersOf(old)], [object.metadata.labels, settersOf(object)])
  if (isSame) return []
  const members = context
    .informer(nodeUnits)
    .list()
    .filter((unit) => isMember(unit, object) || (old !== undefined && isMember(unit, old)))
    .map(({ metadata }) => metadata.name ?? '')
  return [...new Set([...members, ...settersOf(object), ...(old ? settersOf(old) : [])])]
}

/** Returns the units whose settings the node has. */
function settersOf(node: Node): readonly string[] {
  return remembered(node, remembersIn).units
}

async function reconcile(
  { name, reports }: { readonly name: string; readonly reports: Reports },
  context: ControllerContext,
  signal: AbortSignal,
): Promise<ReconcileResult | void> {
  const unit = context.informer(nodeUnits).get({ name })
  if (!unit) return
  if (!isActive(unit)) return release(unit, context, signal)
  const { deletionTimestamp, finalizers = [] } = unit.metadata
  const { unitFinalizer: finalizer } = unitWords
  if (deletionTimestamp === undefined && !finalizers.includes(finalizer)) {
    const added = { object: unit, resource: nodeUnits, finalizer, fieldManager: appliedBy }
    // The write leads to the next look.
    return addFinalizer(added, context, signal)
  }
  if (deletionTimestamp !== undefined) tellHeld(unit, context)
  const members = context
    .informer(resources.nodes)
    .list()
    .filter((node) => isMember(unit, node))
  const restMs = (reports.get(name) ?? 0) - context.clock.monotonicMs()
  if (restMs > 0) return { requeueAfterMs: restMs }
  const units = context.informer(nodeUnits).list()
  const status = unitStatus(unit, members, (node) => unitsOf(node, units))
  if (equalJson(unit.status ?? {}, status)) return
  await ifThere(context.client(nodeUnits).updateStatus({ ...unit, status }, signal))
  reports.set(name, context.clock.monotonicMs() + members.length * reportMsPerNode)
}

async function release(
  unit: NodeUnit,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const held = context.informer(resources.nodes).byIndex(remembersIn, unit.metadata.name ?? '')
  // The last node that loses its settings leads to the next look.
  if (held.length > 0) return
  const { unitFinalizer: finalizer } = unitWords
  await dropFinalizer({ object: unit, resource: nodeUnits, finalizer }, context, signal)
}

/** Says, in SuperEdge's words, why a unit stays. */
function tellHeld(unit: NodeUnit, { events }: ControllerContext): void {
  const { autonomyLevel } = unit.spec ?? {}
  events.event(unit, {
    type: 'Warning',
    reason: `The nodeunit whose autonomyLevel is ${autonomyLevel} is not allowed to be deleted`,
    message: 'Before deleting, please adjust the autonomyLevel of nodeunit to L3',
  })
}
