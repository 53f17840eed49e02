/**
 * gateway: the hub's connections to each edge cluster. tunnels/ accepts agents' connections, proxy/ sends a
 * user's request through one, access/ decides who may, services/ reaches services of an edge, way/ has the type
 * of the way to a cluster and its wrappers, replicas/ joins several hubs, watch/ keeps watches alive across
 * broken links, traffic/ shares the link, state/ reports the clusters' states. Start reading at
 * proxy/cluster-proxy.ts.
 */
export { clusterAccessEscalation } from './access/cluster-access-admission.ts'
export { clusterAccessAuthorizer } from './access/cluster-access-authorizer.ts'
export { clusterAccessRules } from './access/cluster-access-rules.ts'
export { createClusterGrants } from './access/cluster-grants.ts'
export {
  clusterStatesPath,
  clusterStatesRoute,
  maySeeCluster,
} from './access/cluster-states-route.ts'
export {
  type ReachableClusters,
  reachableClustersPath,
  reachableClustersRoute,
} from './access/reachable-clusters.ts'
export { servicesLimits } from './limits-table.ts'
export {
  certificateRenewalAuthorizer,
  certificateRenewalPath,
  certificateRenewalRoute,
} from './login/certificate-renewal.ts'
export {
  type LoginOffer,
  loginOffersAuthorizer,
  loginOffersPath,
  loginOffersRoute,
  readLoginOffers,
} from './login/login-offers.ts'
export { type OnBrokenTunnel, createBrokenTunnelAudit } from './proxy/broken-tunnel-audit.ts'
export { type ClusterAudit, createClusterAudit } from './proxy/cluster-audit.ts'
export { clusterProxyRoutes } from './proxy/cluster-proxy.ts'
export { createDelegation, delegatesResource } from './proxy/delegation.ts'
export { createHostNames } from './proxy/host-names.ts'
export { limitUserStreams } from './proxy/user-streams.ts'
export { type ConnectedClusters, createConnectedClusters } from './replicas/connected-clusters.ts'
export { createReplicaHandler } from './replicas/replica-answer.ts'
export { type Replica, ReplicaDirectory } from './replicas/replica-directory.ts'
export { replicaAuthorizer, replicaUserName, replicasGroup } from './replicas/replica-identity.ts'
export {
  type ReplicaTeller,
  createReplicaTeller,
  heldReplicasHeaders,
  withReplicaNotices,
} from './replicas/replica-notice.ts'
export { replicaRoute } from './replicas/replica-route.ts'
export { runReplicaLinks } from './replicas/run-replica-links.ts'
export { connectAddress, parseDial } from './services/dial-link.ts'
export { framedStream } from './services/framed-stream.ts'
export {
  type ServiceConnect,
  type SpokenProtocol,
  connectRefusal,
  connectVirtual,
  connectedHeaders,
  isConnect,
  parseConnect,
  serviceProtocol,
} from './services/service-link.ts'
export { serviceRoutes } from './services/service-routes.ts'
export { type AgentFacts, agentHeaders } from './state/agent-facts.ts'
export { type AgentRefusal, createAgentMetrics } from './state/agent-metrics.ts'
export { awaySinceMs } from './state/away-since.ts'
export { observeClusters } from './state/cluster-metrics.ts'
export type { ClusterState, ClusterStates } from './state/cluster-state.ts'
export { type HubMetrics, createHubMetrics } from './state/hub-metrics.ts'
export { type TunnelsReport, describeTunnels } from './state/tunnel-report.ts'
export { classifyRequest } from './traffic/classify-request.ts'
export { runTrafficContracts } from './traffic/run-traffic-contracts.ts'
export { tunnelPrefix, tunnelRoute } from './tunnels/tunnel-route.ts'
export type { ClusterWay } from './way/cluster-way.ts'
export { observedWay } from './way/observed-way.ts'
export { tracedWay } from './way/traced-way.ts'
