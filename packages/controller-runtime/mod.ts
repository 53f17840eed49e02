/**
 * controller-runtime: the foundation of every controller. A work queue, shared informers whose readers
 * see their own writes, the reconcile loop, owner references, and leader election. It knows no kind.
 * Start reading at controller.ts, then informer-set.ts.
 */
export {
  runController,
  watch,
  type BackgroundController,
  type ControllerContext,
  type ControllerDefinition,
  type ControllerDeps,
  type ReconcileResult,
  type Watch,
  type WatchOptions,
} from './controller.ts'
export { controllerTask, lateControllers } from './late-controllers.ts'
export { TerminalError } from './terminal-error.ts'
export { createControllerMetrics } from './controller-metrics.ts'
export { createInformerSet, type InformerSet } from './informer-set.ts'
export { selected } from './selected-resource.ts'
export { WorkQueue } from './work-queue.ts'
export {
  byControllerUid,
  claimOwned,
  controllerOf,
  controllerReference,
  controllerUidIndex,
  isControlledBy,
} from './owner-references.ts'
export { addFinalizer } from './add-finalizer.ts'
export { dropFinalizer } from './drop-finalizer.ts'
export { runAsLeader, type Leadership } from './leader-election.ts'
export { fencedTransport } from './fenced-transport.ts'
