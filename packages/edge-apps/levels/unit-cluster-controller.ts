import { addLists, equalJson, isStatusError, localPath, type Node } from '@skerry/api'
import { ifThere, resources, type Change } from '@skerry/client'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
} from '@skerry/controller-runtime'
import { isReady } from '../groups/label-groups.ts'
import { edgeAppsBounds } from '../limits-table.ts'
import { isMember, nodeUnits, type NodeUnit, type UnitClusterStatus } from '../superedge/unit.ts'
import { firstRecords, planHandover } from './handover.ts'
import { readUnit } from './read-unit.ts'
import { faultsOfNodes, faultsOfPods, type UnitFault } from './unit-faults.ts'

const { nodeDelayMs } = edgeAppsBounds.appController
const { podsMax } = edgeAppsBounds.readUnit
const { lookAgainMs, faultsMax } = edgeAppsBounds.unitClusterController

/**
 * Reports what keeps a unit from being a cluster of its own. It changes nothing but the unit's status: a unit is handed over
 * as a whole or not at all, and the acts that follow the fence are not there.
 */
export const unitClusterController: ControllerDefinition = {
  name: 'unit-cluster-controller',
  watches: [
    watch(nodeUnits, { keysOf: unitsOfUnit }),
    watch(resources.nodes, { keysOf: unitsOfNode, delayMs: nodeDelayMs }),
  ],
  // Each look reads many objects.
  workers: 1,
  reconcile,
}

/** Two units may claim one node, so that each of them is looked at again. */
function unitsOfUnit({ object, old }: Change<NodeUnit>, context: ControllerContext): string[] {
  if (old && equalJson([old.spec, old.metadata.name], [object.spec, object.metadata.name])) {
    return []
  }
  return [...new Set([object.metadata.name ?? '', ...wanting(context).map(nameOf)])]
}

function unitsOfNode({ object, old }: Change<Node>, context: ControllerContext): string[] {
  const seen = (node: Node): unknown => [
    node.metadata.labels ?? {},
    node.metadata.annotations?.[localPath.directoryAnnotation] ?? '',
    isReady(node),
  ]
  return old && equalJson(seen(old), seen(object)) ? [] : wanting(context).map(nameOf)
}

/** Returns the units that are to be clusters of their own. */
function wanting(context: ControllerContext): NodeUnit[] {
  return context
    .informer(nodeUnits)
    .list()
    .filter(({ spec }) => (spec?.autonomyLevel ?? 'L3') !== 'L3')
}

async function reconcile(
  name: string,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<ReconcileResult | void> {
  const unit = context.informer(nodeUnits).get({ name })
  if (!unit) return
  const wanted = (unit.spec?.autonomyLevel ?? 'L3') === 'L3' ? 'parent' : 'unit'
  const step = planHandover.parent({ wanted, parent: firstRecords.parent })
  if (step.act === 'none') return report(unit, undefined, context, signal)
  const nodes = context.informer(resources.nodes).list()
  const members = nodes.filter((node) => isMember(unit, node))
  const found = await faultsOf(unit, { members, nodes }, context, signal)
  const faults: readonly UnitFault[] = found.length > 0 ? found : [notSupported]
  await report(unit, failed(faults, members), context, signal)
  return { requeueAfterMs: lookAgainMs }
}

const notSupported: UnitFault = {
  reason: 'NotSupported',
  message: 'nothing stands in the way, but this version hands no unit over',
}

async function faultsOf(
  unit: NodeUnit,
  { members, nodes }: { readonly members: readonly Node[]; readonly nodes: readonly Node[] },
  context: ControllerContext,
  signal: AbortSignal,
): Promise<UnitFault[]> {
  const others = wanting(context)
    .filter((other) => nameOf(other) !== nameOf(unit))
    .map((other) => ({
      name: nameOf(other),
      members: nodes.filter((node) => isMember(other, node)),
    }))
  const faults = faultsOfNodes(unit, members, others)
  if (faults.length > 0) return faults
  try {
    const read = await readUnit(members, context.cluster, signal)
    if (read) return faultsOfPods(read, members, nodes)
    const message = `its nodes have more than ${podsMax} pods; make the unit smaller`
    return [{ reason: 'TooManyPods', message }]
  } catch (error) {
    if (!isStatusError(error, 'Forbidden')) throw error
    return [{ reason: 'Forbidden', message: error.message }]
  }
}

function failed(faults: readonly UnitFault[], members: readonly Node[]): UnitClusterStatus {
  const named = faults.slice(0, faultsMax).map(({ message }) => message)
  const more = faults.length - named.length
  const message = [...named, ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
  const { reason } = faults[0] ?? notSupported
  return {
    phase: 'Failed',
    conditions: [{ type: 'Init', status: 'False', reason, message }],
    resource: {
      capacity: total(members, 'capacity'),
      allocatable: total(members, 'allocatable'),
    },
  }
}

function total(
  members: readonly Node[],
  which: 'capacity' | 'allocatable',
): Readonly<Record<string, string>> {
  return members.reduce<Readonly<Record<string, string>>>(
    (sum, { status }) => addLists(sum, status?.[which] ?? {}),
    {},
  )
}

async function report(
  unit: NodeUnit,
  unitClusterStatus: UnitClusterStatus | undefined,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  if (equalJson(unit.status?.unitClusterStatus ?? {}, unitClusterStatus ?? {})) return
  // Resources that are gone must leave the status, which a merge would keep.
  const { unitClusterStatus: _replaced, ...others } = unit.status ?? {}
  const status = { ...others, ...(unitClusterStatus ? { unitClusterStatus } : {}) }
  await ifThere(context.client(nodeUnits).updateStatus({ ...unit, status }, signal))
}

function nameOf({ metadata }: NodeUnit): string {
  return metadata.name ?? ''
}
