/**
 * karmada-kinds: Karmada's kinds as data, without Cluster: policies, bindings, Works and what its webhooks check of
 * them. Controllers that act on the kinds live above.
 * Start reading at karmada-kinds.ts, then policy/propagation-policy.ts.
 */
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
export { karmadaKinds } from './karmada-kinds.ts'
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
