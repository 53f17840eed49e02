import {
  abortReason,
  giveWay,
  logFailure,
  runAll,
  type Clock,
  type Logger,
  type Random,
} from '@skerry/base'
import { StatusError, isStatusError, type KubeObject } from '@skerry/api'
import type {
  Change,
  ClusterClient,
  EventRecorder,
  EventSink,
  IndexFunctions,
  Informer,
  ResourceClient,
  TypedResource,
} from '@skerry/client'
import type { InformerSet } from './informer-set.ts'
import type { ControllerMetrics, ReconcileOutcome } from './controller-metrics.ts'
import { TerminalError } from './terminal-error.ts'
import { WorkQueue, type WorkQueueOptions } from './work-queue.ts'
import { controllerRuntimeBounds } from './limits-table.ts'

/** The reconciler's access to the cluster. */
export interface ControllerContext {
  readonly cluster: ClusterClient
  /** Shared by all controllers of the process. Objects are frozen. */
  informer<T extends KubeObject>(resource: TypedResource<T>): Informer<T>
  /** Writes objects. When the promise resolves, the informer contains the result. */
  client<T extends KubeObject>(resource: TypedResource<T>): ResourceClient<T>
  readonly events: EventRecorder
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Reconciles the key later, in addition to a requeue by reconcile's result. */
  requeueAfter(key: string, ms: number): void
}

export interface ReconcileResult {
  /** The time after which to reconcile again, even if nothing changes. */
  requeueAfterMs?: number
}

/** One resource whose changes matter, created by `watch`. */
export interface Watch {
  readonly resource: TypedResource<KubeObject>
  /** Starts to turn changes into keys. */
  readonly subscribe: (context: ControllerContext, enqueue: (key: string) => void) => Disposable
}

export interface WatchOptions<T extends KubeObject> {
  /** Returns the keys to reconcile after this change; none if it does not matter. */
  keysOf: (change: Change<T>, context: ControllerContext) => readonly string[]
  indexes?: IndexFunctions<T>
  /** The delay after a change, so that many changes are reconciled once. */
  delayMs?: number
}

export interface ControllerDefinition {
  /** The name as in Kubernetes, e.g. replicaset-controller. */
  readonly name: string
  /** The source of its events if upstream uses another name. Default: the controller's name. */
  readonly eventComponent?: string
  readonly watches: readonly Watch[]
  /** The number of keys reconciled at the same time. Default: 5. */
  readonly workers?: number
  readonly queue?: Partial<Omit<WorkQueueOptions, 'name' | 'priorityOf'>>
  /** Returns a key's priority; the highest comes first. If omitted, keys are handled in order of arrival. */
  readonly priorityOf?: (key: string, context: ControllerContext) => number
  /**
   * Gets only a key and reads the cluster's state. If it rejects, it is called again after a backoff,
   * except for a TerminalError.
   */
  readonly reconcile: (
    key: string,
    context: ControllerContext,
    signal: AbortSignal,
  ) => Promise<ReconcileResult | void>
}

/** A controller with its own loop, for work that does not fit one queue of keys. */
export interface BackgroundController {
  readonly name: string
  /** Runs until the signal aborts. Rejects with its reason. */
  readonly run: (deps: ControllerDeps, signal: AbortSignal) => Promise<void>
}

export interface ControllerDeps {
  cluster: ClusterClient
  informers: InformerSet
  events: EventSink
  clock: Clock
  random: Random
  log: Logger
  metrics?: ControllerMetrics
}

const { clockLookMs, clockSetMsMin, workersDefault } = controllerRuntimeBounds.controller

export function watch<T extends KubeObject>(
  resource: TypedResource<T>,
  options: WatchOptions<T>,
): Watch {
  return {
    resource,
    subscribe(context, enqueue) {
      const informer = context.informer(resource)
      for (const [name, of] of Object.entries(options.indexes ?? {})) informer.addIndex(name, of)
      return informer.onChange((change) => {
        for (const key of options.keysOf(change, context)) {
          if (options.delayMs === undefined) enqueue(key)
          else context.requeueAfter(key, options.delayMs)
        }
      })
    },
  }
}

/**
 * Runs one controller until the signal aborts. Changes become keys, and one worker at a time
 * reconciles each key, once all the informers it reads have synced. Rejects with the signal's
 * reason.
 */
export async function runController(
  definition: ControllerDefinition,
  deps: ControllerDeps,
  signal: AbortSignal,
): Promise<void> {
  const { priorityOf } = definition
  const queue: WorkQueue = new WorkQueue(
    {
      ...definition.queue,
      name: definition.name,
      ...(priorityOf ? { priorityOf: (key) => priorityOf(key, context) } : {}),
    },
    deps,
  )
  const context = contextOf(definition, deps, queue)
  const enqueue = (key: string): void => queue.add(key)
  using subscriptions = new DisposableStack()
  for (const each of definition.watches) subscriptions.use(each.subscribe(context, enqueue))
  try {
    await Promise.all(
      definition.watches.map(({ resource }) =>
        deps.informers.informer(resource).whenSynced(signal),
      ),
    )
    context.log.debug('Controller started')
    const workers = definition.workers ?? workersDefault
    const work = (scope: AbortSignal): Promise<void> =>
      runWorker({ definition, context, queue, metrics: deps.metrics }, scope)
    await runAll(signal, [
      (scope) => lookAgainWhenClockIsSet(queue, deps.clock, scope),
      ...Array.from({ length: workers }, () => work),
    ])
  } finally {
    queue.close()
  }
  throw abortReason(signal)
}

/**
 * Reconciles delayed keys at once if the wall clock is set. Delays run on the monotonic clock, but
 * many stand for a wall clock time, of a schedule or a deadline.
 */
async function lookAgainWhenClockIsSet(
  queue: WorkQueue,
  clock: Clock,
  signal: AbortSignal,
): Promise<never> {
  for (;;) {
    const offsetMs = clock.now() - clock.monotonicMs()
    await clock.sleep(clockLookMs, signal)
    const isSet = Math.abs(clock.now() - clock.monotonicMs() - offsetMs) >= clockSetMsMin
    if (isSet) queue.addDelayed()
  }
}

function contextOf(
  definition: ControllerDefinition,
  deps: ControllerDeps,
  queue: WorkQueue,
): ControllerContext {
  return {
    cluster: deps.cluster,
    informer: (resource) => deps.informers.informer(resource),
    client: (resource) => deps.informers.client(resource),
    events: deps.events.recorder({ component: definition.eventComponent ?? definition.name }),
    clock: deps.clock,
    random: deps.random,
    log: deps.log.child({ controller: definition.name }),
    requeueAfter: (key, ms) => queue.addAfter(key, ms),
  }
}

interface Worker {
  definition: ControllerDefinition
  context: ControllerContext
  queue: WorkQueue
  metrics: ControllerMetrics | undefined
}

async function runWorker(worker: Worker, signal: AbortSignal): Promise<void> {
  for (;;) {
    const key = await worker.queue.take(signal)
    try {
      await reconcileOnce(worker, key, signal)
    } finally {
      worker.queue.done(key)
    }
    // A reconcile with nothing to do waits for nothing, and there may be thousands of keys.
    await giveWay(worker.context.clock)
  }
}

async function reconcileOnce(
  { definition, context, queue, metrics }: Worker,
  key: string,
  signal: AbortSignal,
): Promise<void> {
  let outcome: ReconcileOutcome = 'success'
  try {
    const result = await definition.reconcile(key, context, signal)
    queue.forget(key)
    if (result?.requeueAfterMs !== undefined) {
      outcome = 'requeue_after'
      queue.addAfter(key, result.requeueAfterMs)
    }
  } catch (error) {
    if (signal.aborted) throw abortReason(signal)
    outcome = error instanceof TerminalError ? 'terminal_error' : 'error'
    if (outcome === 'terminal_error') queue.forget(key)
    else queue.retry(key)
    tellFailure(context.log, key, error)
  }
  metrics?.onReconciled(definition.name, outcome)
}

function tellFailure(log: Logger, key: string, error: unknown): void {
  const isOvertaken = isPassing(error)
  const isFinal = error instanceof TerminalError
  const why = isFinal ? 'Reconcile failed until the object changes' : 'Reconcile failed'
  logFailure(log, {
    subject: 'Reconcile',
    message: isOvertaken ? 'Reconcile was overtaken' : why,
    level: isOvertaken ? 'debug' : 'info',
    error,
    fields: { key },
  })
}

/**
 * Returns true for errors of an outdated view: another look sees the new state, or finds the
 * namespace gone. Nobody needs to act.
 */
function isPassing(error: unknown): boolean {
  if (isStatusError(error, 'Conflict')) return true
  const causes = error instanceof StatusError ? error.details?.causes : undefined
  return causes?.some(({ reason }) => reason === 'NamespaceTerminating') === true
}
