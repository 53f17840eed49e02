/**
 * karmada: the fleet, in Karmada's words, and the way to each cluster in it. access/ says who may reach which cluster, login/ where
 * its users log in; cluster/ has the
 * Cluster kind, agents' identities and rights, and what the hub says of a cluster's state; proxy/ is the
 * hub's side of a request to an edge cluster; replicas/ makes several hubs one; agent/ is the
 * edge's; work/ applies what the hub has for a cluster, interpreter/ knows kinds; policy/ and binding/ are what is wanted of objects and what is decided, propagation/ carries it out, from a policy to Works and back, overrides/ makes the difference between clusters; placement/ says which clusters an object goes to, failover/ when it leaves them; waves/ who gets a change first, explain/ says why; virtual/ makes clusters of groups of one cluster's nodes; push/ does for clusters in push mode what their agents would; services/ is the way to services of an edge; state/ says how clusters are, and counts. Objects are reached through `client` alone; it opens no port, and knows no file.
 * Start reading at cluster/cluster-kind.ts, then proxy/cluster-proxy.ts and agent/api-forwarder.ts.
 */
export {
  appliesWorksAnnotation,
  clusterNamespace,
  clusterResource,
  conditionTypes,
  executionNamespace,
  type Cluster,
  type ClusterCondition,
  type ClusterSpec,
  type ClusterStatus,
  type ResourceSummary,
} from './cluster/cluster.ts'
export { clusterKind } from './cluster/cluster-kind.ts'
export {
  agentTokenGroup,
  agentUserName,
  agentsGroup,
  roleGeneratorName,
  virtualAgentGroup,
} from './cluster/agent-identity.ts'
export { agentAuthorizer, agentRestriction, clusterIdentity } from './cluster/agent-access.ts'
export { certificateExpiresKey, parentOf, virtualOfKey } from './cluster/virtual-child.ts'
export {
  allowVirtualClusters,
  refuseVirtualName,
  virtualParentPlugin,
} from './cluster/virtual-parent.ts'
export { virtualWorksPlugin } from './cluster/virtual-works.ts'
export {
  agentSerialPrefix,
  refuseRevoked,
  revocationsKey,
  revokeAgent,
  type RevocationOptions,
} from './cluster/agent-revocation.ts'
export {
  agentCsrApprovingController,
  type AgentApprovalOptions,
} from './cluster/agent-csr-approving-controller.ts'
export { needsAcceptanceGroup, registrationKeys } from './registration/registration-keys.ts'
export { withSourceAddress } from './registration/source-address.ts'
export {
  createReEnrolment,
  reEnrolmentPath,
  type ReEnrolment,
} from './registration/re-enrolment-request.ts'
export {
  reEnrolmentAuthorizer,
  reEnrolmentRoute,
  type ReEnrolmentDeps,
} from './registration/re-enrolment-route.ts'
export {
  clusterRegistrationKind,
  registrationCauses,
  registrationDefaultTtlSeconds,
  registrationOf,
  registrationResource,
  type ClusterRegistration,
  type ClusterRegistrationSpec,
  type ClusterRegistrationStatus,
} from './registration/cluster-registration.ts'
export { agentManifest, type AgentManifestOptions } from './registration/agent-manifest.ts'
export { placeArguments, type AgentPlace } from './registration/agent-place.ts'
export { wayArguments } from './registration/agent-way.ts'
export {
  impersonationRules,
  reportingRules,
  serviceRules,
  type ImpersonationPolicy,
  type PolicyRule,
} from './registration/impersonation-policy.ts'
export {
  karmadaAgentAuthorizer,
  karmadaAgentFields,
  karmadaAgentSecrets,
  karmadaAgentTarget,
} from './registration/karmada-agent.ts'
export { pushAdmission } from './push/push-admission.ts'
export { createPushController } from './push/push-controller.ts'
export { pushPlans, type PushPlans } from './push/push-target.ts'
export { pushedWay } from './push/pushed-way.ts'
export {
  agentRolesRoute,
  generatorRequestPrefix,
  roleGeneratorAuthorizer,
} from './registration/role-generator.ts'
export { leaveAuthorizer, leavePath, leaveRoute } from './registration/leave-route.ts'
export { leaveFleet, type LeavingOptions } from './registration/leave-fleet.ts'
export { deleteKarmadaRights, writeKarmadaRights } from './registration/karmada-rights.ts'
export { agentLimitsPlugin } from './registration/agent-limits.ts'
export { keyFingerprint } from './registration/key-fingerprint.ts'
export {
  decideRegistration,
  pendingRegistrations,
  type Registration,
  type RegistrationDecision,
} from './registration/registration.ts'
export { clusterController } from './cluster/cluster-controller.ts'
export {
  createClusterMonitor,
  type ClusterMonitorOptions,
  type TunnelState,
  type TunnelStates,
} from './cluster/cluster-monitor.ts'
export { clusterProxyRoutes, type ClusterProxyDeps } from './proxy/cluster-proxy.ts'
export { serviceRoutes, type ServiceRoutesDeps } from './services/service-routes.ts'
export { parseAllowedService, type AllowedService } from './services/allowed-service.ts'
export { parseServiceText, serviceText, type EdgeService } from './services/edge-service.ts'
export { framedStream } from './services/framed-stream.ts'
export { serviceProtocol } from './services/service-link.ts'
export { tracedTunnels } from './proxy/traced-tunnels.ts'
export { createDelegation, delegatesResource, type Delegation } from './proxy/delegation.ts'
export { createBrokenTunnelAudit, type OnBrokenTunnel } from './proxy/broken-tunnel-audit.ts'
export { createClusterAudit, type ClusterAudit } from './proxy/cluster-audit.ts'
export { createHostNames, type HostNamesOptions } from './proxy/host-names.ts'
export {
  clusterAccessResource,
  type ClusterAccess,
  type ClusterAccessSpec,
} from './access/cluster-access.ts'
export { clusterAccessKind } from './access/cluster-access-kind.ts'
export {
  createClusterGrants,
  type ClusterGrant,
  type ClusterGrants,
} from './access/cluster-grants.ts'
export { clusterAccessAuthorizer } from './access/cluster-access-authorizer.ts'
export { clusterAccessRules } from './access/cluster-access-rules.ts'
export { clusterAccessEscalation } from './access/cluster-access-admission.ts'
export {
  reachableClustersPath,
  reachableClustersRoute,
  type ReachableCluster,
  type ReachableClusters,
  type ReachableClustersDeps,
} from './access/reachable-clusters.ts'
export { classifyRequest } from './traffic/classify-request.ts'
export { type TrafficPlan } from './traffic/plan-traffic.ts'
export { runTrafficContracts, type TrafficContractsParts } from './traffic/run-traffic-contracts.ts'
export {
  trafficContractResource,
  type TrafficContract,
  type TrafficContractSpec,
} from './traffic/traffic-contract.ts'
export { trafficContractKind } from './traffic/traffic-contract-kind.ts'
export { fleetAdmission } from './kinds/fleet-admission.ts'
export type { TenantRules } from './policy/tenant-rules.ts'
export { karmadaKinds, type KarmadaKindsOptions } from './kinds/karmada-kinds.ts'
export {
  workResource,
  type ManifestStatus,
  type Work,
  type WorkSpec,
  type WorkStatus,
} from './work/work.ts'
export { runWorks, type WorksDeps, type WorksOptions } from './work/run-works.ts'
export {
  type HubInterpreterDeps,
  type InterpreterSources,
} from './interpreter/create-interpreter.ts'
export { nativeInterpreter } from './interpreter/native-interpreter.ts'
export { customizationResource, type Customization } from './interpreter/custom/customization.ts'
export type {
  InterpretedReplicas,
  InterpreterOperation,
  ResourceInterpreter,
} from './interpreter/resource-interpreter.ts'
export { workNameOf, type WorkSubject } from './work/work-name.ts'
export { workRules } from './work/work-rules.ts'
export { leadInCluster, leadingAgent } from './agent/lead-in-cluster.ts'
export {
  createVirtualClusters,
  type VirtualClusters,
  type VirtualClustersDeps,
  type VirtualClustersOptions,
} from './virtual/groups/run-virtual-clusters.ts'
export {
  virtualClusterFinalizer,
  virtualClusterResource,
  virtualClusterSetResource,
  type VirtualCluster,
  type VirtualClusterSet,
} from './virtual/groups/virtual-cluster.ts'
export { groupLabel } from './virtual/virtual-group.ts'
export { throughParents } from './virtual/view/through-parents.ts'
export type { ViewedCluster } from './virtual/view/view-handler.ts'
export {
  createVirtualViews,
  type VirtualViews,
  type VirtualViewsOptions,
} from './virtual/view/virtual-views.ts'
export { createMapping, type Mapping, type MappingOptions } from './virtual/mapping/mapping.ts'
export { createNamespaceRule, type NamespaceRuleOptions } from './virtual/mapping/namespace-rule.ts'
export { type TrafficReport } from './traffic/traffic-report.ts'
export {
  findUserToken,
  readUserToken,
  userNameProblem,
  userTokenName,
  userTokenSecret,
  userTokenType,
  usersNamespace,
  type UserToken,
} from './access/user-token.ts'
export {
  certificateRenewalAuthorizer,
  certificateRenewalPath,
  certificateRenewalRoute,
  type CertificateRenewalDeps,
  type RenewedCertificate,
} from './login/certificate-renewal.ts'
export {
  loginOffersAuthorizer,
  loginOffersPath,
  loginOffersRoute,
  readLoginOffers,
  type LoginOffer,
  type LoginOffers,
} from './login/login-offers.ts'
export { limitUserStreams } from './proxy/user-streams.ts'
export { tunnelPrefix, tunnelRoute, type TunnelRouteDeps } from './proxy/tunnel-route.ts'
export {
  describeTunnels,
  type TunnelReport,
  type TunnelReportDeps,
  type TunnelsReport,
} from './proxy/tunnel-report.ts'
export { agentHeaders, type AgentFacts } from './state/agent-facts.ts'
export { type ClusterState, type ClusterStates } from './state/cluster-state.ts'
export {
  clusterStatesPath,
  clusterStatesRoute,
  type ClusterStatesDeps,
} from './state/cluster-states-route.ts'
export {
  createHubMetrics,
  hubMetricNames,
  type HubMetrics,
  type HubMetricsDeps,
} from './state/hub-metrics.ts'
export { observeClusters, type ClusterMetricsDeps } from './state/cluster-metrics.ts'
export { observedWay, type ObservedWayDeps } from './state/observed-way.ts'
export { awaySinceMs } from './state/away-since.ts'
export {
  agentMetricNames,
  createAgentMetrics,
  type AgentMetrics,
  type AgentRefusal,
} from './state/agent-metrics.ts'
export { replicaAuthorizer, replicasGroup, replicaUserName } from './replicas/replica-identity.ts'
export {
  ReplicaDirectory,
  type DirectoryDeps,
  type DirectoryListener,
  type Replica,
} from './replicas/replica-directory.ts'
export { createReplicaHandler } from './replicas/replica-answer.ts'
export {
  createReplicaTeller,
  heldReplicasHeaders,
  withReplicaNotices,
} from './replicas/replica-notice.ts'
export {
  createReplicatedTunnels,
  type ReplicatedTunnels,
  type ReplicatedTunnelsParts,
} from './replicas/replicated-tunnels.ts'
export { replicaRoute, type ReplicaRouteDeps } from './replicas/replica-route.ts'
export {
  runReplicaLinks,
  type ReplicaLinksDeps,
  type ReplicaLinksOptions,
} from './replicas/run-replica-links.ts'
export {
  createApiForwarder,
  type ApiForwarder,
  type ApiForwarderOptions,
} from './agent/api-forwarder.ts'
export { createAgentHandler, type AgentHandlerDeps } from './agent/agent-handler.ts'
export { tracedHandler, type TracedHandlerOptions } from './agent/traced-handler.ts'
export { observedKeys } from './agent/observed-times.ts'
export type { ChildHub, IdentityOf } from './virtual/groups/child-hub.ts'
export { RunningClusters } from './virtual/groups/running-clusters.ts'
export { virtualIdOf } from './virtual/groups/virtual-id.ts'
export { RoundGate } from './agent/round-gate.ts'
export { clusterIdOf } from './agent/cluster-id.ts'
export { EdgeObserver, type EdgeObserverDeps } from './agent/edge-observer.ts'
export {
  runClusterReporter,
  type ClusterReporterDeps,
  type ClusterReporterOptions,
  type ReportedRound,
} from './agent/cluster-reporter.ts'
export {
  clusterPropagationPolicyResource,
  propagationPolicyResource,
  type PropagationPolicy,
} from './policy/propagation-policy.ts'
export { overridePolicyResource, type OverridePolicy } from './policy/override-policy.ts'
export { clusterTaintPolicyResource } from './policy/cluster-taint-policy.ts'
export { propagation, type PropagationOptions } from './propagation/run-propagation.ts'
export { createFleetScheduler, type FleetSchedulerOptions } from './placement/binding-scheduler.ts'
export { placeBinding } from './placement/place-binding.ts'
export type {
  ClusterDiagnosis,
  PlacementInput,
  PlacementResult,
} from './placement/placement-input.ts'
export { needsPlacement, placementAnnotation } from './placement/needs-placement.ts'
export {
  clusterResourceBindingResource,
  resourceBindingResource,
  type ResourceBinding,
} from './binding/resource-binding.ts'
export { createFleetFailover, type FleetFailoverOptions } from './failover/fleet-failover.ts'
export { explain, type ExplainedRef } from './explain/explain.ts'
export type { Explanation } from './explain/explanation.ts'
