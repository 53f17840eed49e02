import { ifThere, keyOfObject, parseKey, resources, type Change } from '@skerry/client'
import type { Secret } from '@skerry/api'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
} from '@skerry/controller-runtime'
import {
  type EdgeCluster,
  edgeClusterAsks,
  edgeClusterFinalizer,
  edgeClusterResource,
} from '../kind/edge-cluster.ts'
import { type PlannedMachine, machinesOf } from '../kind/machine-addresses.ts'
import { provisioningBounds } from '../limits-table.ts'
import { loginOf, secretsOf } from '../shell/login-of-secret.ts'
import { ShellError, type OpenShell, type Shell } from '../contract/shell.ts'
import { answerAsks } from './asks.ts'
import { writeFinalizers, writeStatus, removeAsks } from './edge-cluster-writes.ts'
import { departed, planCluster, type StepTables } from './plan-cluster.ts'
import { nextAttemptMs, readySteps, statusesOf } from './plan-steps.ts'
import { isMereCheck, knownSteps, statusBaseOf } from './steps-of-mode.ts'
import { Redactor } from './redactor.ts'
import { Shells, runSteps } from './run-steps.ts'
import { StatusBook, phaseAtRest } from './status-book.ts'
import { keepStepLog } from './step-log.ts'
import type { HubSide } from '../contract/step.ts'

export interface EdgeClusterDeps extends StepTables {
  readonly hub: HubSide
  readonly openShell: OpenShell
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
    watches: [watch(edgeClusterResource, { keysOf: ({ object }) => [keyOfObject(object)] })],
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

async function carryOut(
  edge: EdgeCluster,
  scope: Scope,
  signal: AbortSignal,
): Promise<ReconcileResult | void> {
  const { context, hub } = scope
  const { clock, random, log } = context
  const machines = machinesOf(edge.spec)
  const master = machines.find(({ role }) => role === 'Master')
  // Validation demands a master; an object of before would wait for an update.
  if (master === undefined) return
  const { instances, inputs, leaving, machines: known } = planCluster(edge, machines, scope)
  const answered = answerAsks(edge, {
    steps: statusesOf(instances, knownSteps(edge), edge.spec, inputs),
    machines: known,
  })
  const book = new StatusBook(edge, {
    base: statusBaseOf(edge, scope.steps),
    steps: answered.steps,
    machines: answered.machines,
    now: () => clock.now(),
    write: (status) => writeStatus(edge, status, scope, signal),
  })
  const isPaused = edge.spec.paused === true
  const isCheck = isMereCheck(edge)
  // A step that failed does not hold up those of other machines: the phase tells of it when all of these have ended.
  const isIdle = isPaused || readySteps(instances, book.steps, clock.now()).length === 0
  await book.save(isIdle ? phaseAtRest(book, { isPaused, isCheck }) : 'Running')
  await removeAsks(edge, answered.done, scope, signal)
  if (isPaused) return
  const redactor = new Redactor()
  using held = whatHolds(edge, scope)
  await using shells = new Shells((machine, at) =>
    open(machine, { book, edge, scope, redactor }, at),
  )
  const running = AbortSignal.any([signal, held.broken])
  try {
    const keepLog = keepStepLog(edge, context, signal)
    const parts = { edge, machines, master, hub, book, shells, redactor, clock, random, log }
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
  const subscription = context
    .informer(edgeClusterResource)
    .onChange((change: Change<EdgeCluster>) => {
      const { metadata, spec } = change.object
      if (metadata.uid !== edge.metadata.uid) return
      const { annotations = {} } = metadata
      const isDeleted = change.type === 'deleted' || metadata.deletionTimestamp !== undefined
      const isAsked = Object.values(edgeClusterAsks).some((name) => annotations[name] !== undefined)
      const isNew = metadata.generation !== edge.metadata.generation
      isHeld ||= isAsked || isNew || spec.paused === true || (isDeleted && !wasDeleted)
      const isBroken = annotations[edgeClusterAsks.cancel] !== undefined
      if (isBroken || (isDeleted && !wasDeleted))
        broken.abort(new Error('a person has cancelled it'))
    })
  return {
    broken: broken.signal,
    isHeld: () => isHeld,
    [Symbol.dispose]: () => subscription[Symbol.dispose](),
  }
}

interface Opening {
  readonly book: StatusBook
  readonly edge: EdgeCluster
  readonly scope: Scope
  readonly redactor: Redactor
}

/** Opens a machine with the login of its Secret, and keeps the host key that it showed. */
async function open(
  machine: PlannedMachine,
  { book, edge, scope, redactor }: Opening,
  signal: AbortSignal,
): Promise<Shell> {
  const { name } = machine.block.credentials
  const namespace = edge.metadata.namespace ?? ''
  const secrets = scope.context.cluster.resource(resources.secrets)
  const secret: Secret | undefined = await ifThere(secrets.get({ namespace, name }, signal))
  const login = loginOf(machine, secret)
  redactor.add(secretsOf(login))
  const known = book.machine(machine.address) ?? { address: machine.address, role: machine.role }
  const request = {
    address: machine.address,
    login,
    isHostKeyAccepted: (shown: string) => isAccepted(shown, machine, known.hostKey),
  }
  const { unknownHostKey: _, ...rest } = known
  try {
    const shell = await scope.openShell(request, signal)
    book.setMachine({ ...rest, hostKey: shell.hostKey })
    return shell
  } catch (error) {
    if (!(error instanceof ShellError) || error.fault !== 'host-key') throw error
    const shown = String(error.cause)
    book.setMachine({ ...known, unknownHostKey: shown })
    throw new ShellError('host-key', hostKeyText(shown, machine, { edge, pinned: known.hostKey }))
  }
}

/** Fingerprints in the spec are the only ones that count; otherwise the kept one, or a first one if those are taken. */
function isAccepted(shown: string, { block }: PlannedMachine, pinned: string | undefined): boolean {
  const { hostKeys = [], acceptNewHostKeys = false } = block
  if (hostKeys.length > 0) return hostKeys.includes(shown)
  return pinned === undefined ? acceptNewHostKeys : pinned === shown
}

function hostKeyText(
  shown: string,
  { address, block }: PlannedMachine,
  { edge, pinned }: { readonly edge: EdgeCluster; readonly pinned: string | undefined },
): string {
  const expected = block.hostKeys?.length ? block.hostKeys.join(' or ') : pinned
  const { namespace = '', name = '' } = edge.metadata
  const accept = `skerry edge-cluster accept-host-key ${name} ${address}=${shown} --namespace ${namespace}`
  return expected === undefined
    ? `${address} shows host key ${shown}, which is not known; compare it with the machine's own (ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub), then run "${accept}"`
    : `${address} shows host key ${shown} instead of ${expected}: it is another machine, or was installed again, or somebody is between it and the hub; correct spec.machines[].hostKeys, or run "${accept}"`
}
