/**
 * propagation: from a template and its policy to a Work for each chosen cluster, and the status back.
 * placement/ chooses clusters, overrides/ adapts the object to each, waves/ orders the rollout, failover/
 * moves objects away, explain/ gives the reasons. Start reading at propagation/propagation-controllers.ts, then
 * placement/place-binding.ts.
 */
export { type ExplainedRef, explain } from './explain/explain.ts'
export type { Explanation } from './explain/explanation.ts'
export { previewOverrides, previewPlacement } from './explain/preview-policy.ts'
export { createFleetFailover } from './failover/fleet-failover.ts'
export { createFleetScheduler } from './placement/binding-scheduler.ts'
export { needsPlacement, placementAnnotation } from './placement/needs-placement.ts'
export { placeBinding } from './placement/place-binding.ts'
export type { ClusterDiagnosis, PlacementResult } from './placement/placement-input.ts'
export { propagationControllers } from './propagation/propagation-controllers.ts'
export { propagationTriggers } from './propagation/propagation-triggers.ts'
