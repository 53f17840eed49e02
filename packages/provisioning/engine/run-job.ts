import { keyOfObject, parseKey, type Change } from '@skerry/client'
import type { ControllerContext, ReconcileResult } from '@skerry/controller-runtime'
import { edgeClusterResource, type EdgeCluster, type StepStatus } from '../kind/edge-cluster.ts'
import {
  edgeJobClusterResource,
  edgeJobLabel,
  edgeJobResource,
  type EdgeJob,
  type EdgeJobCluster,
  type EdgeJobClusterStatus,
  type JobMachineStatus,
} from '../kind/edge-job.ts'
import { jumpStatuses } from '../kind/edge-cluster-ways.ts'
import { madeMasters } from '../kind/made-masters.ts'
import { pausedBy } from '../kind/pause.ts'
import { machinesOf, type PlannedMachine } from '../kind/machine-addresses.ts'
import type { OpenShell } from '../contract/shell.ts'
import type { OpenJump } from '../contract/ways.ts'
import type { HubSide, JobOrder, Step } from '../contract/step.ts'
import { targetsOf } from '../kind/job-targets.ts'
import { edgeJobBounds } from '../limits-table.ts'
import { cancelledSteps, confirmedSteps, retriedSteps, settledSteps } from './job-asks.ts'
import type { Places } from './job-places.ts'
import { ifSame } from './if-same.ts'
import { MachineOpener } from './machine-opener.ts'
import {
  clusterMessageOf,
  clusterPhaseOf,
  isExceeded,
  machineStatusOf,
  phaseNamesOf,
  totalsOf,
} from './job-phases.ts'
import { chooseSteps, jobInstancesOf, machinesInChange } from './plan-job.ts'
import { nextAttemptMs, statusesOf, type StepInstance } from './plan-steps.ts'
import { Redactor } from './redactor.ts'
import { Shells, runSteps, type RunPace } from './run-steps.ts'
import { StatusBook, phaseAtRest } from './status-book.ts'
import { hasAllDone } from './steps-of-mode.ts'
import { keepStepLog } from './step-log.ts'

export interface EdgeJobDeps {
  /** Returns the steps of a job; the engine knows none of them. */
  readonly jobSteps: (order: JobOrder) => readonly Step[]
  readonly hub: HubSide
  readonly openShell: OpenShell
  /** If omitted, machines behind a jump host are refused. */
  readonly openJump?: OpenJump
}

/** Everything that the work on one cluster of a job needs. */
export interface JobScope extends EdgeJobDeps {
  readonly context: ControllerContext
  readonly places: Places
}

/** The work on one cluster of a job. */
export interface JobWork {
  readonly own: EdgeJobCluster
  readonly job: EdgeJob
  readonly edge: EdgeCluster
}

const bounds = edgeJobBounds

/** Does everything on one cluster that may be done now. */
export async function runJob(
  work: JobWork,
  scope: JobScope,
  signal: AbortSignal,
): Promise<ReconcileResult | void> {
  const { own, job, edge } = work
  const targets = targetsOf(edge, job.spec)
  const masters = madeMasters(machinesOf(edge.spec), edge.status?.machines ?? [])
  if (targets.length === 0 || masters.length === 0) {
    const message = 'the job is about none of its machines'
    const status = { ...own.status, message, observedRetries: own.spec.retries ?? 0 }
    return writeJobCluster(own, { ...status, phase: 'Completed' }, scope, signal)
  }
  const made = targets.filter((machine) => hasAllDone(edge, machine))
  // Nodes are never newer than a master, so they wait for one that is not made yet.
  const isMasterMade = masters.some((master) => hasAllDone(edge, master))
  const machines = isMasterMade ? made : []
  const unmade = targets.filter((machine) => !machines.includes(machine))
  // A step asks when it runs, and the book is there by then.
  const isDoneEverywhere = (name: string): boolean =>
    unmade.length === 0 && book.steps.every((step) => step.name !== name || step.state === 'Done')
  const steps = scope
    .jobSteps({ job, confirmed: own.spec.confirmed ?? [], isDoneEverywhere })
    .filter(({ applies }) => applies?.(edge) !== false)
  const instances = jobInstancesOf(steps, machines)
  const book = bookOf(work, { instances, machines, unmade, steps }, scope, signal)
  const hold = holdOf(work, { book, instances }, scope)
  await book.save('Running')
  await act({ work, instances, machines, masters, book, hold }, scope, signal)
  await book.save(phaseAtRest(book, { isPaused: pausedBy(job) !== undefined }))
  if (machinesInChange(instances, book.steps).size === 0) scope.places.leave(job, keyOfObject(own))
  const nextMs = nextAttemptMs(book.steps)
  const { clock } = scope.context
  const waits = [
    ...(nextMs === undefined
      ? []
      : [Math.max(hold.isHeld() ? bounds.turnMs : 0, nextMs - clock.now())]),
    ...(hold.wantsPlace() ? [bounds.turnMs] : []),
    ...(unmade.length > 0 ? [bounds.unmadeMs] : []),
  ]
  return waits.length === 0 ? undefined : { requeueAfterMs: Math.min(...waits) }
}

interface Plan {
  readonly instances: readonly StepInstance[]
  readonly machines: readonly PlannedMachine[]
  readonly unmade: readonly PlannedMachine[]
  readonly steps: readonly Step[]
}

/** Returns the book of the cluster's part of the job, in which what people have asked for is done. */
function bookOf(
  { own, job, edge }: JobWork,
  { instances, machines, unmade, steps }: Plan,
  scope: JobScope,
  signal: AbortSignal,
): StatusBook {
  const { clock } = scope.context
  const names = phaseNamesOf(steps)
  const { retries = 0, retryMachines = [], confirmed = [] } = own.spec
  const known = statusesOf(instances, own.status?.steps ?? [], {})
  const isRetried = retries !== (own.status?.observedRetries ?? 0)
  const retried = isRetried ? retriedSteps(known, retryMachines, answersIn(steps)) : known
  const hostKeys = new Map(edge.status?.machines?.map((each) => [each.address, each]))
  const waiting: JobMachineStatus[] = unmade.map(({ address, role }) => {
    const message = 'its EdgeCluster has not finished it yet'
    return { address, role, phase: 'Pending', message }
  })
  return new StatusBook(own, {
    base: {},
    steps: confirmedSteps(retried, confirmed),
    machines: machines.map(({ address, role }) => ({ ...hostKeys.get(address), address, role })),
    jumps: jumpStatuses(machines, edge.status?.jumps),
    pausedBy: pausedBy(job),
    now: () => clock.now(),
    write: ({ steps: now = [], conditions = [] }) => {
      const present = machines.map((machine) => machineStatusOf(machine, now, names))
      const all = [...present, ...waiting]
      const isCancelled = latest(own, scope)?.spec.cancelled === true
      const phase = clusterPhaseOf(all, { isCancelled })
      const status: EdgeJobClusterStatus = { phase, machines: all, steps: now, conditions }
      const told = { ...status, observedRetries: retries, ...clusterMessageOf(all) }
      return writeJobCluster(own, told, scope, signal)
    },
  })
}

/** Returns the names of the steps that answer failures. */
function answersIn(steps: readonly Step[]): Set<string> {
  return new Set(steps.flatMap(({ name, undoes }) => (undoes === undefined ? [] : [name])))
}

function latest({ metadata }: EdgeJobCluster, { context }: JobScope): EdgeJobCluster | undefined {
  const { namespace = '', name = '' } = metadata
  return context.informer(edgeJobClusterResource).get({ namespace, name })
}

/** Keeps further machines from being begun; asked before each. */
interface Hold {
  readonly isHeld: () => boolean
  readonly hasPlace: () => boolean
  /** Whether a machine could not begin because as many clusters are changed as the job allows. */
  readonly wantsPlace: () => boolean
}

function holdOf(
  { own, job }: JobWork,
  { book, instances }: { readonly book: StatusBook; readonly instances: readonly StepInstance[] },
  scope: JobScope,
): Hold {
  const { context, places } = scope
  const key = keyOfObject(own)
  const { namespace } = own.metadata
  let isFull = false
  const answers = answersIn(instances.map(({ step }) => step))
  const isHeld = (): boolean => {
    const now = latest(own, scope)
    const present = context.informer(edgeJobResource).get(parseKey(keyOfObject(job)))
    if (now === undefined || present === undefined || now.spec.cancelled === true) return true
    if (pausedBy(present) !== undefined) return true
    const all = context
      .informer(edgeJobClusterResource)
      .list(namespace)
      .filter((each) => each.spec.job === own.spec.job)
    const others = all.filter(({ metadata }) => metadata.name !== own.metadata.name)
    const edges = context.informer(edgeClusterResource)
    const { machines } = totalsOf(all, (name) => {
      const edge = edges.get({ namespace: namespace ?? '', name })
      return edge === undefined ? 0 : targetsOf(edge, job.spec).length
    })
    const elsewhere = totalsOf(others, () => 0)
    const failed = book.steps.filter(({ state, name }) => state === 'Failed' && !answers.has(name))
    const here = new Set(failed.map(({ machine }) => machine)).size
    return isExceeded(elsewhere.failed + elsewhere.rolledBack + here, machines, present.spec)
  }
  return {
    isHeld,
    hasPlace() {
      const max = job.spec.clustersAtOnce ?? bounds.clustersAtOnceDefault
      const has = places.enter(job, key, max)
      isFull ||= !has
      return has
    },
    wantsPlace: () => isFull,
  }
}

interface Act {
  readonly work: JobWork
  readonly instances: readonly StepInstance[]
  readonly machines: readonly PlannedMachine[]
  readonly masters: readonly PlannedMachine[]
  readonly book: StatusBook
  readonly hold: Hold
}

/** Runs the steps until none may run now, or the cluster is deleted. */
async function act(
  { work, instances, machines, masters, book, hold }: Act,
  scope: JobScope,
  signal: AbortSignal,
): Promise<void> {
  const { own, job, edge } = work
  const { context, hub } = scope
  const { clock, random, log } = context
  const redactor = new Redactor()
  using deletion = deletionOf(edge, scope)
  const { openShell, openJump } = scope
  const opening = { book, edge, hub, context, redactor, openShell, openJump }
  await using opener = new MachineOpener(opening)
  await using shells = new Shells((machine, at) => opener.open(machine, at))
  const parts = { edge, machines, masters, hub, book, shells, redactor, clock, random, log }
  try {
    const deps = { ...parts, keepLog: logOf(work, scope, signal), isHeld: () => false }
    const running = AbortSignal.any([signal, deletion.signal])
    await runSteps(instances, deps, running, paceOf({ instances, job, book, hold }))
  } catch (error) {
    signal.throwIfAborted()
    if (!deletion.signal.aborted) throw error
  }
  const isCancelled = latest(own, scope)?.spec.cancelled === true
  const inChange = machinesInChange(instances, book.steps)
  const settled = settledSteps(instances, book.steps)
  const left = isCancelled ? cancelledSteps(settled, inChange) : settled
  for (const step of left) book.setStep(step)
}

function paceOf({
  instances,
  job,
  book,
  hold,
}: Pick<Act, 'instances' | 'book' | 'hold'> & { readonly job: EdgeJob }): RunPace {
  const { timeoutSeconds = bounds.timeoutSecondsDefault, retry } = job.spec
  return {
    attemptsMax: retry?.attempts ?? bounds.attemptsDefault,
    patienceMs: ({ disrupts, undoes }) =>
      disrupts === true && undoes === undefined ? timeoutSeconds * 1_000 : Infinity,
    choose: (ready, running) =>
      chooseSteps(ready, {
        instances,
        statuses: book.steps,
        running,
        machinesAtOnce: job.spec.machinesAtOnce ?? bounds.machinesAtOnceDefault,
        isHeld: hold.isHeld(),
        hasPlace: hold.hasPlace,
      }),
  }
}

/** Breaks off when the cluster is deleted: its machines are cleaned. */
function deletionOf(
  edge: EdgeCluster,
  { context }: JobScope,
): Disposable & { signal: AbortSignal } {
  const broken = new AbortController()
  const subscription = context
    .informer(edgeClusterResource)
    .onChange(({ type, object }: Change<EdgeCluster>) => {
      if (object.metadata.uid !== edge.metadata.uid) return
      if (type !== 'deleted' && object.metadata.deletionTimestamp === undefined) return
      broken.abort(new Error('the EdgeCluster is being deleted'))
    })
  return { signal: broken.signal, [Symbol.dispose]: () => subscription[Symbol.dispose]() }
}

/** Keeps one log for each machine: a job has many of them, and their steps follow one another. */
function logOf(
  { own }: JobWork,
  { context }: JobScope,
  signal: AbortSignal,
): (step: StepStatus, text: string) => Promise<void> {
  const labels = { [edgeJobLabel]: own.spec.job }
  const owner = { kind: 'EdgeJobCluster', labelsOf: () => labels }
  const keep = keepStepLog(own, context, signal, owner)
  return (step, text) => keep({ ...step, name: 'log' }, `${step.name}\n${text}`)
}

export async function writeJobCluster(
  { metadata }: EdgeJobCluster,
  status: EdgeJobClusterStatus,
  { context }: Pick<JobScope, 'context'>,
  signal: AbortSignal,
): Promise<void> {
  const { namespace = '', name = '', uid = '' } = metadata
  // A message that is not told any more goes.
  const patch = { metadata: { uid }, status: { message: null, ...status } }
  const client = context.client(edgeJobClusterResource)
  await ifSame(client.patchStatus({ namespace, name, type: 'merge', patch }, signal))
}
