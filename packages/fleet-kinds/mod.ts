/**
 * fleet-kinds: the kinds that a hub serves in addition to Kubernetes' own, as data: Karmada's Cluster, Work, bindings and
 * policies, and Skerry's ClusterRegistration, ClusterAccess, TrafficContract and VirtualCluster. Each kind has its types,
 * its strategy and its checks here; controllers that act on the kinds live above.
 * Start reading at cluster/cluster-kind.ts, then karmada-kinds.ts.
 */
export { clusterAccessKind } from './access/cluster-access-kind.ts'
export {
  type ClusterAccess,
  type ClusterAccessSpec,
  clusterAccessResource,
  clusterVerbs,
} from './access/cluster-access.ts'
export {
  findUserToken,
  readUserToken,
  tokenIdKey,
  userNameProblem,
  userTokenName,
  userTokenSecret,
  userTokenType,
  usersNamespace,
} from './access/user-token.ts'
export { fleetAdmission } from './admission/fleet-admission.ts'
export { dependenciesKey } from './binding/resource-binding-kind.ts'
export {
  type AggregatedStatusItem,
  type BindingComponent,
  type BindingSpec,
  type BindingStatus,
  type BoundObject,
  type EvictionTask,
  type ReplicaRequirements,
  type ResourceBinding,
  type TargetCluster,
  bindingConditions,
  bindingName,
  clusterResourceBindingResource,
  resourceBindingResource,
} from './binding/resource-binding.ts'
export {
  type ObservedWorkload,
  type RebalancedWorkload,
  type WorkloadRebalancer,
  workloadRebalancerResource,
} from './binding/workload-rebalancer.ts'
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
export { type KarmadaKindsOptions, karmadaKinds } from './karmada-kinds.ts'
export {
  choosePolicy,
  explicitPriority,
  highestSelectorRank,
  matchesSelector,
  matchingPolicies,
  mayPreempt,
  selectorRanks,
} from './policy/choose-policy.ts'
export { matchesAffinity } from './policy/cluster-affinity.ts'
export {
  type ClusterTaintPolicy,
  type ConditionMatch,
  clusterTaintPolicyResource,
} from './policy/cluster-taint-policy.ts'
export { changedKeptField } from './policy/kept-fields.ts'
export {
  type CommandOverrider,
  type FieldOperation,
  type FieldOverrider,
  type ImageOverrider,
  type MapOverrider,
  type OverrideOperator,
  type OverridePolicy,
  type OverrideRule,
  type Overriders,
  type PlaintextOverrider,
  clusterOverridePolicyResource,
  overridePolicyResource,
} from './policy/override-policy.ts'
export {
  type ClusterAffinity,
  type ClusterAffinityTerm,
  type FailoverBehavior,
  type Placement,
  type PropagationPolicy,
  type PurgeMode,
  type SpreadConstraint,
  type StatePreservation,
  clusterPropagationPolicyResource,
  propagationPolicyResource,
} from './policy/propagation-policy.ts'
export { type TenantRules, tenantOptions } from './policy/tenant-rules.ts'
export { type Wave, type Waves, waveKeys, wavesOf } from './policy/waves.ts'
export { agentLimits } from './registration/agent-limits-table.ts'
export { type AgentPlace, placeArguments } from './registration/agent-place.ts'
export { type AgentWay, podWay, wayArguments } from './registration/agent-way.ts'
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
  registrationDefaultTtlSeconds,
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
  type TrafficContractSpec,
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
export {
  executionFinalizer,
  karmadaKeys,
  ownershipAnnotations,
  ownershipLabels,
} from './work/karmada-keys.ts'
export { carriedManifest } from './work/manifest-metadata.ts'
export { pruned } from './work/prune.ts'
export { fnv32a, safeHash, workNameOf } from './work/work-name.ts'
export {
  type ManifestIdentifier,
  type ManifestStatus,
  type ResourceHealth,
  type Work,
  type WorkSpec,
  manifestsOf,
  workConditions,
  workResource,
} from './work/work.ts'
