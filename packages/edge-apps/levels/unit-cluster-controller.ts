import { equalJson, isStatusError, localPath, type Node } from '@skerry/api'
import { ifThere, resources, type Change } from '@skerry/client'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
} from '@skerry/controller-runtime'
import { isReady } from '../groups/label-groups.ts'
import { edgeAppsBounds } from '../limits-table.ts'
import {
  isMember,
  nodeUnits,
  unitWords,
  type NodeUnit,
  type UnitClusterStatus,
} from '../superedge/unit.ts'
import { firstRecords, planHandover, type ParentStep } from './handover.ts'
import { readUnit } from './read-unit.ts'
import type { UnitActs } from './unit-acts.ts'
import { statusOfFaults, statusOfProgress } from './unit-cluster-status.ts'
import {
  faultsOfNodes,
  faultsOfPods,
  serversOfLevel,
  unknownLevel,
  type UnitFault,
} from './unit-faults.ts'

const { nodeDelayMs } = edgeAppsBounds.appController
const { podsMax } = edgeAppsBounds.readUnit
const { lookAgainMs, heardAgainMs, refusedMs, stepMs, growMs } =
  edgeAppsBounds.unitClusterController

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
  const seen = ({ spec, metadata }: NodeUnit): unknown => [spec, metadata.name, lostIn(metadata)]
  if (old && equalJson(seen(old), seen(object))) return []
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
  const lost = lostIn(unit.metadata)
  const isPacked = parent.phase === 'fenced' && parent.content !== undefined
  const isGone = isPacked && (await acts?.hasContent(name)) === false
  const step = planHandover.parent({ wanted, parent, unit: acts?.heardOf(name), lost, isGone })
  if (parent.phase === 'own' && step.act === 'none') return report(unit, undefined, context, signal)
  const nodes = context.informer(resources.nodes).list()
  const looked = { unit, nodes, members: nodes.filter((node) => isMember(unit, node)) }
  if (parent.phase === 'own') {
    const faults = await whyNot(looked, acts, context, signal)
    if (faults.length > 0) {
      await report(unit, statusOfFaults(faults, looked.members), context, signal)
      return { requeueAfterMs: lookAgainMs }
    }
  }
  if (acts === undefined) return
  const { isDone, refusal } = await carryOut(step, looked, acts, signal)
  const shortage = await staff(unit, acts)
  const progress = statusOfProgress({
    last: unit.status?.unitClusterStatus,
    members: looked.members,
    record: acts.recordOf(name),
    waitsFor: step.act === 'none' ? step.waitsFor : undefined,
    heard: acts.heardOf(name),
    masters: acts.mastersOf(name),
    shortage,
    refusal,
  })
  await report(unit, progress, context, signal)
  if (refusal !== undefined) return { requeueAfterMs: refusedMs }
  if (isDone || progress?.phase !== 'Running') return { requeueAfterMs: stepMs }
  const [{ status, reason } = {}] = progress.conditions
  const isGrowing = status !== 'True' && reason === 'Released'
  return { requeueAfterMs: isGrowing ? growMs : heardAgainMs }
}

function lostIn({ annotations }: NodeUnit['metadata']): number | undefined {
  const text = annotations?.[unitWords.lostGeneration]
  return text === undefined ? undefined : Number(text)
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
  return acts.faultsOf(members.map(nodeName), signal)
}

/** Gives a unit that is away as many servers as its level asks for. */
async function staff(unit: NodeUnit, acts: UnitActs): Promise<string | undefined> {
  const name = nameOf(unit)
  const { phase } = acts.recordOf(name)
  if (phase !== 'released' && phase !== 'recalled') return undefined
  const level = unit.spec?.autonomyLevel ?? 'L3'
  const servers = serversOfLevel[level]
  if (servers === undefined && level !== 'L3') return unknownLevel(level).message
  return (await acts.staff(name, servers ?? 0))?.message
}

interface Done {
  /** True if the next step follows. */
  readonly isDone: boolean
  readonly refusal?: string | undefined
}

async function carryOut(
  step: ParentStep,
  { unit, members }: Looked,
  acts: UnitActs,
  signal: AbortSignal,
): Promise<Done> {
  const name = nameOf(unit)
  const nodes = members.map(nodeName)
  switch (step.act) {
    case 'none':
      return { isDone: false }
    case 'note':
      await acts.note(
        name,
        { record: step.record, nodes, masters: mastersOf(unit, members) },
        signal,
      )
      return { isDone: true }
    case 'pack':
      await acts.pack(name, signal)
      return { isDone: true }
    case 'take': {
      const { isTaken, refusal } = await acts.take(name, step, signal)
      return { isDone: isTaken, refusal }
    }
    default:
      return step satisfies never
  }
}

/** Returns the nodes that begin: ready ones first, by name. */
function mastersOf({ spec }: NodeUnit, members: readonly Node[]): string[] {
  const byName = members.toSorted((a, b) => (nodeName(a) < nodeName(b) ? -1 : 1))
  const readyFirst = [...byName.filter(isReady), ...byName.filter((node) => !isReady(node))]
  return readyFirst.slice(0, serversOfLevel[spec?.autonomyLevel ?? ''] ?? 1).map(nodeName)
}

function nodeName({ metadata }: Node): string {
  return metadata.name ?? ''
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
