import { keyOfObject, parseKey, type Change } from '@skerry/client'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
} from '@skerry/controller-runtime'
import { clusterResource, type Cluster } from '@skerry/fleet-kinds'
import {
  type EdgeCluster,
  clusterNameOfEdge,
  edgeClusterAsks,
  edgeClusterFinalizer,
  edgeClusterResource,
  stepText,
} from '../kind/edge-cluster.ts'
import { isImport } from '../kind/edge-cluster-import.ts'
import { type PlannedMachine, machinesOf } from '../kind/machine-addresses.ts'
import { provisioningBounds } from '../limits-table.ts'
import type { OpenShell } from '../contract/shell.ts'
import type { OpenJump } from '../contract/ways.ts'
import { jumpStatuses, jumpText } from '../kind/edge-cluster-ways.ts'
import { pausedBy } from '../kind/pause.ts'
import { answerAsks } from './asks.ts'
import { writeFinalizers, writeStatus } from './edge-cluster-writes.ts'
import { MachineOpener } from './machine-opener.ts'
import { departed, isBusy, planCluster, type StepTables } from './plan-cluster.ts'
import { isSkippable, nextAttemptMs, statusesOf } from './plan-steps.ts'
import { isMereCheck, knownSteps, statusBaseOf } from './steps-of-mode.ts'
import { Redactor } from './redactor.ts'
import { removeAnnotations } from './remove-annotations.ts'
import { Shells, runSteps } from './run-steps.ts'
import { StatusBook, phaseAtRest } from './status-book.ts'
import { keepStepLog } from './step-log.ts'
import type { HubSide } from '../contract/step.ts'

export interface EdgeClusterDeps extends StepTables {
  /** The same for clusters that are imported. If omitted, none is. */
  readonly imports?: Omit<StepTables, 'departure'>
  readonly hub: HubSide
  readonly openShell: OpenShell
  /** If omitted, machines behind a jump host are refused. */
  readonly openJump?: OpenJump
}

/**
 * Makes edge clusters of machines and takes them away again, step by step. All that it knows is in the object's
 * status, so a hub that was killed continues with the first step that is not done.
 */
export function edgeClusterController(deps: EdgeClusterDeps): ControllerDefinition {
  const busyIn = new Map<string, number>()
  return {
    name: 'edge-cluster-controller',
    workers: provisioningBounds.engine.clustersAtOnce,
    watches: [
      watch(edgeClusterResource, {
        keysOf: ({ object }) => [keyOfObject(object)],
        indexes: { [importsByCluster]: importedNames },
      }),
      // An agent that connects is noticed at once.
      ...(deps.imports === undefined ? [] : [watch(clusterResource, { keysOf: keysOfImports })]),
    ],
    async reconcile(key, context, signal) {
      const { namespace = '' } = parseKey(key)
      const busy = busyIn.get(namespace) ?? 0
      if (busy >= clustersOfNamespaceAtOnce) return { requeueAfterMs: turnMs }
      busyIn.set(namespace, busy + 1)
      try {
        return await reconcile(key, { ...deps, context }, signal)
      } finally {
        const left = (busyIn.get(namespace) ?? 1) - 1
        if (left > 0) busyIn.set(namespace, left)
        else busyIn.delete(namespace)
      }
    },
  }
}

const importsByCluster = 'imports-by-cluster'

function importedNames(edge: EdgeCluster): string[] {
  return isImport(edge) ? [clusterNameOfEdge(edge)] : []
}

function keysOfImports({ object }: Change<Cluster>, context: ControllerContext): string[] {
  const edges = context.informer(edgeClusterResource)
  return edges.byIndex(importsByCluster, object.metadata.name ?? '').map(keyOfObject)
}

const { clustersOfNamespaceAtOnce, turnMs } = provisioningBounds.engine

interface Scope extends EdgeClusterDeps {
  readonly context: ControllerContext
}

async function reconcile(
  key: string,
  scope: Scope,
  signal: AbortSignal,
): Promise<ReconcileResult | void> {
  const edge = scope.context.informer(edgeClusterResource).get(parseKey(key))
  if (edge === undefined) return
  if (edge.metadata.deletionTimestamp !== undefined) return remove(edge, scope, signal)
  if (!(edge.metadata.finalizers ?? []).includes(edgeClusterFinalizer)) {
    // The write comes back as a change, which continues here.
    const finalizers = [...(edge.metadata.finalizers ?? []), edgeClusterFinalizer]
    return writeFinalizers(edge, finalizers, scope, signal)
  }
  return carryOut(edge, scope, signal)
}

/** Takes a cluster away; when nothing of it is left, the object goes. */
async function remove(
  edge: EdgeCluster,
  scope: Scope,
  signal: AbortSignal,
): Promise<ReconcileResult | void> {
  const finalizers = edge.metadata.finalizers ?? []
  if (!finalizers.includes(edgeClusterFinalizer)) return
  const result = await carryOut(edge, scope, signal)
  const after = scope.context.informer(edgeClusterResource).get(parseKey(keyOfObject(edge)))
  if (after?.status?.phase !== 'Ready') return result
  const left = (after.metadata.finalizers ?? []).filter((name) => name !== edgeClusterFinalizer)
  return writeFinalizers(after, left, scope, signal)
}

function tablesOf(edge: EdgeCluster, scope: Scope): StepTables {
  if (!isImport(edge)) return scope
  return { steps: [], removal: [], ...scope.imports, departure: [] }
}

async function carryOut(
  edge: EdgeCluster,
  scope: Scope,
  signal: AbortSignal,
): Promise<ReconcileResult | void> {
  const { context, hub } = scope
  const { clock, random, log } = context
  const machines = machinesOf(edge.spec)
  const hasMaster = machines.some(({ role }) => role === 'Master')
  // Validation demands a master; an object of before would wait for an update.
  if (!hasMaster && !isImport(edge)) return
  const tables = tablesOf(edge, scope)
  const { instances, inputs, leaving, machines: known } = planCluster(edge, machines, tables)
  const answered = answerAsks(edge, {
    steps: statusesOf(instances, knownSteps(edge), edge.spec, { inputs, machines: known }),
    machines: known,
    jumps: jumpStatuses([...leaving, ...machines], edge.status?.jumps),
    jumpOf: jumpNames([...leaving, ...machines]),
    maySkip: (status) =>
      instances.some((each) => each.text === stepText(status) && isSkippable(each.step)),
  })
  const book = new StatusBook(edge, {
    base: statusBaseOf(edge, tables.steps, known),
    steps: answered.steps,
    machines: answered.machines,
    jumps: answered.jumps,
    pausedBy: pausedBy(edge),
    now: () => clock.now(),
    write: (status) => writeStatus(edge, status, scope, signal),
  })
  const isPaused = pausedBy(edge) !== undefined
  const isCheck = isMereCheck(edge)
  const isAtWork = !isPaused && isBusy(instances, book, clock.now())
  await book.save(isAtWork ? 'Running' : phaseAtRest(book, { isPaused, isCheck }))
  const asked = { keys: answered.done, context }
  await removeAnnotations(edgeClusterResource, edge, asked, signal)
  if (isPaused) return
  const redactor = new Redactor()
  using held = whatHolds(edge, scope)
  const { openShell, openJump } = scope
  await using machinesOpened = new MachineOpener({
    book,
    edge,
    hub,
    context,
    redactor,
    openShell,
    openJump,
  })
  await using shells = new Shells((machine, at) => machinesOpened.open(machine, at))
  const running = AbortSignal.any([signal, held.broken])
  try {
    const keepLog = keepStepLog(edge, context, signal)
    const parts = { edge, machines, hub, book, shells, redactor, clock, random, log }
    await runSteps(instances, { ...parts, keepLog, isHeld: held.isHeld }, running)
  } catch (error) {
    signal.throwIfAborted()
    if (!held.broken.aborted) throw error
  }
  book.drop(departed(leaving, book))
  await book.save(phaseAtRest(book, { isPaused: false, isCheck }))
  const nextMs = nextAttemptMs(book.steps)
  return nextMs === undefined ? undefined : { requeueAfterMs: Math.max(0, nextMs - clock.now()) }
}

/** Follows what people ask for while steps run: no new step begins, and a cancelled or deleted one breaks off. */
function whatHolds(
  edge: EdgeCluster,
  { context }: Scope,
): Disposable & { readonly broken: AbortSignal; readonly isHeld: () => boolean } {
  const broken = new AbortController()
  let isHeld = false
  const wasDeleted = edge.metadata.deletionTimestamp !== undefined
  const heed = (now: EdgeCluster, isGone: boolean): void => {
    const { metadata } = now
    if (metadata.uid !== edge.metadata.uid) return
    const { annotations = {} } = metadata
    const isDeleted = isGone || metadata.deletionTimestamp !== undefined
    const isAsked = Object.values(edgeClusterAsks).some((name) => annotations[name] !== undefined)
    const isNew = metadata.generation !== edge.metadata.generation
    const isPaused = pausedBy(now) !== undefined
    isHeld ||= isAsked || isNew || isPaused || (isDeleted && !wasDeleted)
    const isBroken = annotations[edgeClusterAsks.cancel] !== undefined
    if (isBroken || (isDeleted && !wasDeleted)) broken.abort(new Error('a person has cancelled it'))
  }
  const informer = context.informer(edgeClusterResource)
  const subscription = informer.onChange(({ type, object }: Change<EdgeCluster>) =>
    heed(object, type === 'deleted'),
  )
  // A person may have asked for something since the object was read.
  const latest = informer.get(parseKey(keyOfObject(edge)))
  heed(latest ?? edge, latest === undefined)
  return {
    broken: broken.signal,
    isHeld: () => isHeld,
    [Symbol.dispose]: () => subscription[Symbol.dispose](),
  }
}

/** Returns a function from the address of a machine to the name of the jump host before it. */
function jumpNames(machines: readonly PlannedMachine[]): (address: string) => string | undefined {
  const names = new Map(
    machines.flatMap(({ address, block: { jump } }) =>
      jump === undefined ? [] : [[address, jumpText(jump)] as const],
    ),
  )
  return (address) => names.get(address)
}
