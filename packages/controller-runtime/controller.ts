import {
  abortReason,
  asError,
  giveWay,
  isBrokenInvariant,
  runAll,
  type Clock,
  type Logger,
  type Random,
} from '@skerry/base'
import { StatusError, isStatusError, type KubeObject } from '@skerry/api'
import type {
  Change,
  Cluster,
  EventRecorder,
  EventSink,
  IndexFunctions,
  Informer,
  ResourceClient,
  TypedResource,
} from '@skerry/client'
import type { InformerSet } from './informer-set.ts'
import type { ControllerMetrics } from './controller-metrics.ts'
import { TerminalError } from './terminal-error.ts'
import { WorkQueue, type WorkQueueOptions } from './work-queue.ts'

/** What a reconciler reads the world with, and changes it with. */
export interface ControllerContext {
  readonly cluster: Cluster
  /** Shared by all controllers of the process; objects are frozen. */
  informer<T extends KubeObject>(resource: TypedResource<T>): Informer<T>
  /** What it writes is in the informer when the promise resolves. */
  client<T extends KubeObject>(resource: TypedResource<T>): ResourceClient<T>
  readonly events: EventRecorder
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Looks at the key later, beside what the result of reconcile asks. */
  requeueAfter(key: string, ms: number): void
}

export interface ReconcileResult {
  /** Look again after this time, even if nothing changes. */
  requeueAfterMs?: number
}

/** One resource whose changes matter; made by `watch`. */
export interface Watch {
  readonly resource: TypedResource<KubeObject>
  /** Starts to turn changes into keys. */
  readonly subscribe: (context: ControllerContext, enqueue: (key: string) => void) => Disposable
}

export interface WatchOptions<T extends KubeObject> {
  /** The keys to look at after this change; none when it does not matter. */
  keysOf: (change: Change<T>, context: ControllerContext) => readonly string[]
  indexes?: IndexFunctions<T>
  /** Look this much later than the change, so that many changes become one look. */
  delayMs?: number
}

export interface ControllerDefinition {
  /** As in Kubernetes, e.g. replicaset-controller. */
  readonly name: string
  /** Whom its events come from, where upstream calls it otherwise; default: its name. */
  readonly eventComponent?: string
  readonly watches: readonly Watch[]
  /** Keys looked at at the same time; default 5. */
  readonly workers?: number
  readonly queue?: Partial<Omit<WorkQueueOptions, 'priorityOf'>>
  /** Keys with more are looked at first; absent: in the order in which they came. */
  readonly priorityOf?: (key: string, context: ControllerContext) => number
  /** Gets only a key and reads the world. Rejects to be called again after a backoff, or with TerminalError to be not. */
  readonly reconcile: (
    key: string,
    context: ControllerContext,
    signal: AbortSignal,
  ) => Promise<ReconcileResult | void>
}

/** A controller with a loop of its own, for what does not fit one queue of keys. */
export interface BackgroundController {
  readonly name: string
  /** Until the signal aborts; rejects with its reason. */
  readonly run: (deps: ControllerDeps, signal: AbortSignal) => Promise<void>
}

export interface ControllerDeps {
  cluster: Cluster
  informers: InformerSet
  events: EventSink
  clock: Clock
  random: Random
  log: Logger
  metrics?: ControllerMetrics
}

const workersDefault = 5
/** How soon it is noticed that the wall clock was set, and by how much at least. */
const clockLookMs = 60_000
const clockSetMsMin = 1_000

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
 * Runs one controller until the signal aborts: changes become keys, each key is reconciled by one
 * worker at a time, once all the informers it reads have synced. Rejects with the signal's reason.
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

/** Delays last by the monotonic clock, and many are for a time of the wall clock: of a schedule or a deadline. */
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
    // What finds nothing to do waits for nothing, and there may be thousands of keys.
    await giveWay(worker.context.clock)
  }
}

async function reconcileOnce(
  { definition, context, queue, metrics }: Worker,
  key: string,
  signal: AbortSignal,
): Promise<void> {
  const startMs = context.clock.monotonicMs()
  let outcome = 'success'
  try {
    const result = await definition.reconcile(key, context, signal)
    queue.forget(key)
    if (result?.requeueAfterMs !== undefined) queue.addAfter(key, result.requeueAfterMs)
  } catch (error) {
    if (signal.aborted) throw abortReason(signal)
    outcome = error instanceof TerminalError ? 'terminal' : 'retry'
    if (outcome === 'terminal') queue.forget(key)
    else queue.retry(key)
    logFailure(context.log, key, error)
  }
  const seconds = (context.clock.monotonicMs() - startMs) / 1000
  metrics?.onReconciled({ controller: definition.name, outcome, seconds, waiting: queue.length })
}

function logFailure(log: Logger, key: string, error: unknown): void {
  const cause = asError(error)
  if (isBrokenInvariant(error)) {
    log.error('Reconcile broke an invariant', { key, error, stack: error.stack })
  } else if (isPassing(error)) log.debug('Reconcile was overtaken', { key, error: cause })
  else if (error instanceof TerminalError) {
    log.info('Reconcile failed until the object changes', { key, error: cause })
  } else log.info('Reconcile failed', { key, error: cause })
}

/** The world moved on: another look sees it, or finds the namespace gone. Nothing for a person to do. */
function isPassing(error: unknown): boolean {
  if (isStatusError(error, 'Conflict')) return true
  const causes = error instanceof StatusError ? error.details?.causes : undefined
  return causes?.some(({ reason }) => reason === 'NamespaceTerminating') === true
}
