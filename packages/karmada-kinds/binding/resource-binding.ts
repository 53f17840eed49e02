import type { KubeObject, NodeSelector, Toleration } from '@skerry/api'
import type { TypedResource } from '@skerry/client'
import type { ClusterCondition } from '@skerry/fleet-kinds'
import type {
  ConflictResolution,
  FailoverBehavior,
  Placement,
  PurgeMode,
  Suspension,
} from '../policy/propagation-policy.ts'
import type { ResourceHealth } from '../work/work.ts'

/** A work.karmada.io/v1alpha2 ResourceBinding or ClusterResourceBinding: one object, and its clusters. */
export interface ResourceBinding extends KubeObject {
  spec: BindingSpec
  status?: BindingStatus
}

export interface BindingSpec {
  resource: BoundObject
  propagateDeps?: boolean
  replicaRequirements?: ReplicaRequirements
  replicas?: number
  components?: BindingComponent[]
  /** The scheduler's decision. */
  clusters?: TargetCluster[]
  placement?: Placement
  gracefulEvictionTasks?: EvictionTask[]
  /** The bindings whose objects need this one. */
  requiredBy?: { namespace?: string; name: string; clusters?: TargetCluster[] }[]
  schedulerName?: string
  failover?: FailoverBehavior
  conflictResolution?: ConflictResolution
  rescheduleTriggeredAt?: string
  suspension?: Suspension & { scheduling?: boolean }
  preserveResourcesOnDeletion?: boolean
  schedulePriority?: { priority?: number }
  workloadAffinityGroups?: { affinityGroup?: string; antiAffinityGroup?: string }
}

export interface BoundObject {
  apiVersion: string
  kind: string
  namespace?: string
  name: string
  uid?: string
  resourceVersion?: string
}

/** The requirements of one replica. */
export interface ReplicaRequirements {
  nodeClaim?: {
    hardNodeAffinity?: NodeSelector
    nodeSelector?: Record<string, string>
    tolerations?: Toleration[]
  }
  resourceRequest?: Record<string, string>
  namespace?: string
  priorityClassName?: string
}

export interface BindingComponent {
  name: string
  replicas: number
  replicaRequirements?: Omit<ReplicaRequirements, 'namespace'>
}

export interface TargetCluster {
  name: string
  /** Absent of what has no replicas. */
  replicas?: number
}

/** A cluster that keeps its copy until another one has taken over. */
export interface EvictionTask {
  fromCluster: string
  purgeMode?: PurgeMode
  replicas?: number
  reason: string
  message?: string
  producer: string
  gracePeriodSeconds?: number
  suppressDeletion?: boolean
  preservedLabelState?: Record<string, string>
  creationTimestamp?: string
  clustersBeforeFailover?: string[]
}

export interface BindingStatus {
  schedulerObservedGeneration?: number
  /** The term of placement.clusterAffinities in force; upstream's name of the field. */
  schedulerObservingAffinityName?: string
  lastScheduledTime?: string
  conditions?: ClusterCondition[]
  aggregatedStatus?: AggregatedStatusItem[]
}

/** The status of the object in one cluster. */
export interface AggregatedStatusItem {
  clusterName: string
  /** The status that the interpreter reflected there. */
  status?: Record<string, unknown>
  applied?: boolean
  appliedMessage?: string
  health?: ResourceHealth
}

export const bindingConditions = Object.freeze({
  scheduled: 'Scheduled',
  fullyApplied: 'FullyApplied',
})

export const resourceBindingResource: TypedResource<ResourceBinding> = Object.freeze({
  group: 'work.karmada.io',
  version: 'v1alpha2',
  resource: 'resourcebindings',
  isNamespaced: true,
})

export const clusterResourceBindingResource: TypedResource<ResourceBinding> = Object.freeze({
  group: 'work.karmada.io',
  version: 'v1alpha2',
  resource: 'clusterresourcebindings',
  isNamespaced: false,
})

/** `web-deployment`: colons, which roles have, become dots. */
export function bindingName(kind: string, name: string): string {
  return `${name.replaceAll(':', '.')}-${kind}`.toLowerCase()
}
