import type { KubeObject } from '@skerry/api'
import type { TypedResource } from '@skerry/client'
import type { ClusterAffinity, ResourceSelector } from './propagation-policy.ts'

/** policy.karmada.io/v1alpha1 OverridePolicy or ClusterOverridePolicy: what differs from cluster to cluster. */
export interface OverridePolicy extends KubeObject {
  spec: OverrideSpec
}

export interface OverrideSpec {
  /** If omitted, every object in the policy's scope. */
  resourceSelectors?: ResourceSelector[]
  overrideRules?: OverrideRule[]
  /** The way of before overrideRules: one rule. */
  targetCluster?: ClusterAffinity
  overriders?: Overriders
}

export interface OverrideRule {
  /** If omitted, every cluster. */
  targetCluster?: ClusterAffinity
  overriders: Overriders
}

export interface Overriders {
  plaintext?: PlaintextOverrider[]
  imageOverrider?: ImageOverrider[]
  commandOverrider?: CommandOverrider[]
  argsOverrider?: CommandOverrider[]
  labelsOverrider?: MapOverrider[]
  annotationsOverrider?: MapOverrider[]
  fieldOverrider?: FieldOverrider[]
}

export type OverrideOperator = 'add' | 'remove' | 'replace'

export interface PlaintextOverrider {
  /** A JSON pointer. */
  path: string
  operator: OverrideOperator
  value?: unknown
}

export interface ImageOverrider {
  /** If omitted, every image of kinds with pods. */
  predicate?: { path: string }
  component: 'Registry' | 'Repository' | 'Tag'
  operator: OverrideOperator
  value?: string
}

export interface CommandOverrider {
  containerName: string
  operator: 'add' | 'remove'
  value?: string[]
}

export interface MapOverrider {
  operator: OverrideOperator
  value: Record<string, string>
}

/** Changes a document inside a field, as JSON or as YAML. */
export interface FieldOverrider {
  fieldPath: string
  json?: FieldOperation[]
  yaml?: FieldOperation[]
}

export interface FieldOperation {
  subPath: string
  operator: OverrideOperator
  value?: unknown
}

export const overridePolicyResource: TypedResource<OverridePolicy> = Object.freeze({
  group: 'policy.karmada.io',
  version: 'v1alpha1',
  resource: 'overridepolicies',
  isNamespaced: true,
})

export const clusterOverridePolicyResource: TypedResource<OverridePolicy> = Object.freeze({
  group: 'policy.karmada.io',
  version: 'v1alpha1',
  resource: 'clusteroverridepolicies',
  isNamespaced: false,
})
