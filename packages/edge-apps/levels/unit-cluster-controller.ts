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
import { firstRecords, planHandover, type ParentStep } from './handover.ts'
import { readUnit } from './read-unit.ts'
import type { UnitActs } from './unit-acts.ts'
import { faultsOfNodes, faultsOfPods, type UnitFault } from './unit-faults.ts'

const { nodeDelayMs } = edgeAppsBounds.appController
const { podsMax } = edgeAppsBounds.readUnit
const { lookAgainMs, stepMs, faultsMax } = edgeAppsBounds.unitClusterController

/**
 * Hands a unit over to a control plane of its own, or takes it back, and reports how far it is. A unit is handed over as a
 * whole or not at all; without the acts it reports what keeps the unit at L3, and changes nothing else.
 */
export function unitClusterController(acts?: UnitActs): ControllerDefinition {
  return {
    name: 'unit-cluster-controller',
    watches: [
      watch(nodeUnits, { keysOf: unitsOfUnit }),
      watch(resources.nodes, { keysOf: unitsOfNode, delayMs: nodeDelayMs }),
    ],
    // Each look reads many objects.
    workers: 1,
    reconcile: (name, context, signal) => reconcile({ name, acts }, context, signal),
  }
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

interface Looked {
  readonly unit: NodeUnit
  readonly members: readonly Node[]
  readonly nodes: readonly Node[]
}

async function reconcile(
  { name, acts }: { readonly name: string; readonly acts: UnitActs | undefined },
  context: ControllerContext,
  signal: AbortSignal,
): Promise<ReconcileResult | void> {
  const unit = context.informer(nodeUnits).get({ name })
  if (!unit) return
  const wanted = (unit.spec?.autonomyLevel ?? 'L3') === 'L3' ? 'parent' : 'unit'
  const parent = acts?.recordOf(name) ?? firstRecords.parent
  const step = planHandover.parent({ wanted, parent, unit: acts?.heardOf(name) })
  if (parent.phase === 'own' && step.act === 'none') return report(unit, undefined, context, signal)
  const nodes = context.informer(resources.nodes).list()
  const looked = { unit, nodes, members: nodes.filter((node) => isMember(unit, node)) }
  if (parent.phase === 'own') {
    const faults = await whyNot(looked, acts, context, signal)
    if (faults.length > 0) {
      await report(unit, failed(faults, looked.members), context, signal)
      return { requeueAfterMs: lookAgainMs }
    }
  }
  if (acts === undefined) return
  const isDone = await carryOut(step, looked, acts, signal)
  const progress = progressOf(looked, step, acts)
  await report(unit, progress, context, signal)
  return { requeueAfterMs: isDone || progress?.phase !== 'Running' ? stepMs : lookAgainMs }
}

/** Returns what keeps a unit from being handed over; nothing if it can be. */
async function whyNot(
  { unit, members, nodes }: Looked,
  acts: UnitActs | undefined,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<readonly UnitFault[]> {
  const found = await faultsOf(unit, { members, nodes }, context, signal)
  if (found.length > 0) return found
  if (acts === undefined) return [notSupported]
  const { autonomyLevel } = unit.spec ?? {}
  if (autonomyLevel !== 'L4') {
    const message = `nothing stands in the way, but this version gives a unit one server; set autonomyLevel to L4`
    return [{ reason: 'NotSupported', message }]
  }
  const names = members.map(({ metadata }) => metadata.name ?? '')
  return acts.faultsOf(names).map((message) => ({ reason: 'NotSupported', message }))
}

/** Resolves to true if something was done, so that the next step follows. */
async function carryOut(
  step: ParentStep,
  { unit, members }: Looked,
  acts: UnitActs,
  signal: AbortSignal,
): Promise<boolean> {
  const name = nameOf(unit)
  const nodes = members.map(({ metadata }) => metadata.name ?? '')
  switch (step.act) {
    case 'none':
      return false
    case 'note':
      await acts.note(name, { record: step.record, nodes }, signal)
      return true
    case 'pack':
      await acts.pack(name, signal)
      return true
    case 'take':
      return acts.take(name, step, signal)
    default:
      return step satisfies never
  }
}

/** Says how far a unit is; undefined if the parent has it. */
function progressOf(
  { unit, members }: Looked,
  step: ParentStep,
  acts: UnitActs,
): UnitClusterStatus | undefined {
  const { phase, generation } = acts.recordOf(nameOf(unit))
  if (phase === 'own') return undefined
  const heard = acts.heardOf(nameOf(unit))
  const isOpen = phase === 'released' && heard?.phase === 'open' && heard.generation === generation
  const waitsFor = step.act === 'none' && !isOpen ? step.waitsFor : undefined
  const message = isOpen
    ? 'its own control plane acts'
    : `waits until ${waitsFor ?? 'its next step'}`
  return {
    phase: isOpen ? 'Running' : phase === 'recalled' ? 'Terminating' : 'Initializing',
    conditions: [
      { type: 'Init', status: isOpen ? 'True' : 'Unknown', reason: reasons[phase], message },
    ],
    resource: { capacity: total(members, 'capacity'), allocatable: total(members, 'allocatable') },
  }
}

const reasons = Object.freeze({ fenced: 'Fenced', released: 'Released', recalled: 'Recalled' })

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
