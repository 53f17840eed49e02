import type {
  DeploymentSpec,
  LabelSelectorFields,
  NodeSelectorTerm,
  ObjectMeta,
  StatefulSetSpec,
} from '@skerry/api'
import type { KnownResource } from '@skerry/client'
import type { App, AppStatus } from '../children/app-kind.ts'
import type { GroupPolicyFields } from '../children/group-policy.ts'

/** OpenYurt's YurtAppSet: a workload for each pool of nodes. */
export interface YurtAppSet extends App {
  readonly spec?: PoolChoice & {
    readonly workload?: {
      readonly workloadTemplate?: Workload
      readonly workloadTweaks?: readonly WorkloadTweak[]
    }
    readonly revisionHistoryLimit?: number
    readonly groupPolicy?: GroupPolicyFields
    /** Fields of v1alpha1. */
    readonly selector?: LabelSelectorFields
    readonly workloadTemplate?: Workload
    readonly topology?: { readonly pools?: readonly OlderPool[] }
  }
  readonly status?: AppStatus & {
    readonly [field: string]: unknown
    readonly currentRevision?: string
    readonly conditions?: readonly AppSetCondition[]
  }
}

interface Workload {
  readonly deploymentTemplate?: WorkloadTemplate<DeploymentSpec>
  readonly statefulSetTemplate?: WorkloadTemplate<StatefulSetSpec>
}

interface OlderPool {
  readonly name: string
  readonly nodeSelectorTerm?: Pick<NodeSelectorTerm, 'matchExpressions'>
  readonly replicas?: number
}

/** Pools by name or by their labels. */
export interface PoolChoice {
  readonly pools?: readonly string[]
  readonly nodepoolSelector?: LabelSelectorFields
}

interface WorkloadTemplate<Spec> {
  readonly metadata?: Pick<ObjectMeta, 'labels' | 'annotations'>
  readonly spec?: Spec
}

export interface WorkloadTweak extends PoolChoice {
  readonly tweaks?: Tweaks
}

/** The differences of some pools. */
export interface Tweaks {
  readonly replicas?: number
  readonly containerImages?: readonly { readonly name: string; readonly targetImage: string }[]
  readonly patches?: readonly TweakPatch[]
}

export interface TweakPatch {
  readonly path: string
  readonly operation: 'add' | 'remove' | 'replace'
  readonly value?: unknown
}

export interface AppSetCondition {
  readonly type: string
  readonly status: 'True' | 'False'
  readonly reason?: string
  readonly message?: string
  readonly lastTransitionTime?: string
}

export const yurtAppSets: KnownResource<YurtAppSet> = Object.freeze({
  group: 'apps.openyurt.io',
  version: 'v1beta1',
  resource: 'yurtappsets',
  kind: 'YurtAppSet',
  isNamespaced: true,
})

/** OpenYurt's words on children. */
export const appSetWords = Object.freeze({
  pool: 'apps.openyurt.io/pool-name',
  revision: 'apps.openyurt.io/controller-revision-hash',
  owner: 'apps.openyurt.io/ref-yurtappset',
  /** An annotation. */
  poolNote: 'apps.openyurt.io/ref-nodepool',
})
