/**
 * membership: how clusters join the fleet and what their agents may do. registration/ decides on requests for certificates,
 * renewals and revocations; rights/ holds the authorizers and admission plugins for agents; cluster/ keeps the state of each Cluster.
 * Start reading at registration/agent-csr-approving-controller.ts, then rights/agent-access.ts.
 */
export { clusterController, clusterFinalizer } from './cluster/cluster-controller.ts'
export { type TunnelStates, createClusterMonitor } from './cluster/cluster-monitor.ts'
export { type TunnelState } from './cluster/plan-conditions.ts'
export { writeFinalizers } from './cluster/write-finalizers.ts'
export { agentCsrApprovingController } from './registration/agent-csr-approving-controller.ts'
export { agentManifest } from './registration/agent-manifest.ts'
export {
  agentNamespace,
  agentObjectName,
  agentRemovalName,
  agentRemovalUser,
} from './registration/agent-removal.ts'
export {
  agentSerialPrefix,
  refuseRevoked,
  revocationsKey,
  revokeAgent,
} from './registration/agent-revocation.ts'
export { keyFingerprint } from './registration/key-fingerprint.ts'
export { createReEnrolment, reEnrolmentPath } from './registration/re-enrolment-request.ts'
export { reEnrolmentAuthorizer, reEnrolmentRoute } from './registration/re-enrolment-route.ts'
export { needsAcceptanceGroup, registrationKeys } from './registration/registration-keys.ts'
export {
  type Registration,
  decideRegistration,
  pendingRegistrations,
} from './registration/registration.ts'
export { withSourceAddress } from './registration/source-address.ts'
export { agentAuthorizer, agentRestriction, clusterIdentity } from './rights/agent-access.ts'
export { agentLimitsPlugin } from './rights/agent-limits.ts'
export {
  type ImpersonationPolicy,
  impersonationRefusal,
  impersonationRules,
  reportingRules,
  serviceRules,
} from './rights/impersonation-policy.ts'
export {
  karmadaAgentAuthorizer,
  karmadaAgentFields,
  karmadaAgentSecrets,
  karmadaAgentTarget,
  writtenByAgentKey,
} from './rights/karmada-agent.ts'
export { deleteKarmadaRights, writeKarmadaRights } from './rights/karmada-rights.ts'
export { leaveAuthorizer, leavePath, leaveRoute } from './rights/leave-route.ts'
export {
  agentRolesRoute,
  generatorRequestPrefix,
  roleGeneratorAuthorizer,
} from './rights/role-generator.ts'
export {
  allowVirtualClusters,
  refuseVirtualName,
  virtualParentPlugin,
} from './rights/virtual-parent.ts'
export { virtualWorksPlugin } from './rights/virtual-works.ts'
export { workRules } from './rights/work-rules.ts'
