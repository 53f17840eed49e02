/**
 * controller-runtime: what every controller stands on. A work queue, shared informers whose readers
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
export { createControllerMetrics, type ControllerMetrics } from './controller-metrics.ts'
export { createInformerSet, type InformerSet, type InformerSetDeps } from './informer-set.ts'
export { selected, type SelectedResource, type Selection } from './selected-resource.ts'
export { WorkQueue, workQueueDefaults, type WorkQueueOptions } from './work-queue.ts'
export {
  byControllerUid,
  claimObjects,
  controllerOf,
  controllerReference,
  controllerUidIndex,
  isControlledBy,
  orphansOf,
  planClaim,
  type Claim,
  type ClaimPlan,
} from './owner-references.ts'
export {
  LeaseLostError,
  leaderElectionDefaults,
  runAsLeader,
  type LeaderElectionDeps,
  type LeaderElectionOptions,
} from './leader-election.ts'
