/**
 * cluster-agent: the edge's side. forward/ passes requests of the hub's users to the cluster's API server,
 * report/ keeps the Cluster's status fresh, work/ applies Works, and push/ does the same from the hub for
 * clusters in push mode. Start reading at forward/api-forwarder.ts, then work/execution-controller.ts.
 */
export { allowedDials } from './forward/address-dialer.ts'
export { allowedServices } from './forward/allowed-services.ts'
export { createApiForwarder } from './forward/api-forwarder.ts'
export type { MemberNamespaceOf } from './forward/service-dialer.ts'
export { statusAnswer } from './forward/status-answer.ts'
export { tracedHandler } from './forward/traced-handler.ts'
export { leadInCluster, leadingAgent } from './lead-in-cluster.ts'
export { leaveFleet } from './leave-fleet.ts'
export { pushAdmission } from './push/push-admission.ts'
export { createPushController } from './push/push-controller.ts'
export { PushForwarders } from './push/push-forwarders.ts'
export { type PushPlans, pushPlans } from './push/push-target.ts'
export { pushedWay } from './push/pushed-way.ts'
export { clusterIdOf } from './report/cluster-id.ts'
export {
  type ClusterReporterDeps,
  type ClusterReporterTiming,
  type ReportedRound,
  runClusterReporter,
} from './report/cluster-reporter.ts'
export { EdgeObserver } from './report/edge-observer.ts'
export { isNodeReady } from './report/node-ready.ts'
export { RoundGate } from './report/round-gate.ts'
export { sayNotReady } from './report/say-not-ready.ts'
export { RunningClusters } from './running-clusters.ts'
export { ownClusters, type FollowedClusters } from './work/followed-clusters.ts'
export type { ManifestMapping } from './work/manifest-mapping.ts'
export { MappingRefusal } from './work/mapping-refusal.ts'
export { MemberCluster } from './work/member-cluster.ts'
export { runWorks } from './work/run-works.ts'
export {
  isSharingKey,
  sharedManifest,
  sharedPlace,
  sharerPatch,
  sharersOf,
} from './work/shared-object.ts'
export { takeWork } from './work/take-work.ts'
export { type WorkContext, isReady, placeOf, placesOf } from './work/work-context.ts'
