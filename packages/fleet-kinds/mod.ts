/**
 * fleet-kinds: the kinds by which a hub knows its clusters, as data: Karmada's Cluster, and Skerry's
 * ClusterRegistration, ClusterAccess, TrafficContract and VirtualCluster. Each kind has its types, its strategy and
 * its checks here; controllers that act on the kinds live above.
 * Start reading at cluster/cluster-kind.ts.
 */
export { clusterAccessKind } from './access/cluster-access-kind.ts'
export { hubKind, textColumn } from './access/hub-kind.ts'
export {
  type ClusterAccess,
  clusterAccessResource,
  clusterVerbs,
  hubGroup,
} from './access/cluster-access.ts'
export {
  findUserToken,
  readUserToken,
  sessionIdKey,
  tokenIdKey,
  userNameProblem,
  userTokenName,
  userTokenSecret,
  userTokenType,
  usersNamespace,
} from './access/user-token.ts'
export {
  type VirtualAgent,
  agentTokenGroup,
  agentUserName,
  agentsGroup,
  clusterOfAgent,
  clusterOfReporter,
  clusterOfToken,
  isOpenToken,
  isRoleGenerator,
  roleGeneratorName,
  virtualAgentGroup,
  virtualAgentOf,
} from './cluster/agent-identity.ts'
export { clusterKind } from './cluster/cluster-kind.ts'
export {
  type ApiEnablement,
  type Cluster,
  type ClusterCondition,
  type ClusterSpec,
  type ClusterStatus,
  type NodeSummary,
  type ResourceModel,
  type ResourceSummary,
  type SecretReference,
  apiCertificateExpiresAnnotation,
  appliesWorksAnnotation,
  clusterNamespace,
  clusterResource,
  conditionTypes,
  executionNamespace,
} from './cluster/cluster.ts'
export { type ConditionText, apiTime, conditionOf, withCondition } from './cluster/conditions.ts'
export { defaultResourceModels } from './cluster/resource-models.ts'
export {
  certificateExpiresKey,
  childrenSelector,
  parentOf,
  virtualOfKey,
} from './cluster/virtual-child.ts'
export {
  countAt,
  fieldAt,
  kindKey,
  numberAt,
  objectsAt,
  textAt,
  textsAt,
  withField,
  withoutField,
} from './fields/fields.ts'
export { agentLimits, registrationDefaultTtlSeconds } from './limits-table.ts'
export { type AgentPlace, placeArguments } from './registration/agent-place.ts'
export { type AgentWay, podWay, wayArguments } from './registration/agent-way.ts'
export {
  type AllowedDial,
  type DialAddress,
  coversDial,
  dialAddressOf,
  dialText,
  parseAllowedDial,
} from './registration/allowed-dial.ts'
export {
  type AllowedService,
  allowancesOf,
  allowedServiceText,
  coversPort,
  parseAllowedService,
} from './registration/allowed-service.ts'
export {
  type ClusterRegistration,
  type ClusterRegistrationSpec,
  type ClusterRegistrationStatus,
  clusterRegistrationKind,
  registrationCauses,
  registrationOf,
  registrationResource,
} from './registration/cluster-registration.ts'
export {
  type EdgeService,
  edgeServiceOf,
  parseServiceText,
  serviceText,
} from './registration/edge-service.ts'
export { trafficContractKind } from './traffic/traffic-contract-kind.ts'
export {
  type TrafficContract,
  type TrafficContractRate,
  trafficContractResource,
} from './traffic/traffic-contract.ts'
export { virtualClusterCrds } from './virtual/virtual-cluster-crds.ts'
export {
  type GroupSource,
  type VirtualCluster,
  type VirtualClusterSet,
  type VirtualClusterSetStatus,
  type VirtualClusterSpec,
  type VirtualClusterStatus,
  type VirtualIsolation,
  clusterNameOf,
  goneSinceAnnotation,
  setLabel,
  virtualClusterFinalizer,
  virtualClusterResource,
  virtualClusterSetResource,
  virtualConditions,
} from './virtual/virtual-cluster.ts'
export {
  type NamespaceRule,
  type VirtualGroup,
  closingLabel,
  groupLabel,
  isolationName,
  keptForAnnotation,
  virtualNamespaceLabels,
} from './virtual/virtual-group.ts'
