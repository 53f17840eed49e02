import type { Cluster } from '@skerry/fleet-kinds'
import {
  matchesAffinity,
  type OverridePolicy,
  type PropagationPolicy,
  type TargetCluster,
} from '@skerry/karmada-kinds'
import { placeBinding } from '../placement/place-binding.ts'
import type { ClusterDiagnosis } from '../placement/placement-input.ts'

/** Where the objects of a propagation policy would go now. */
export interface PlacementPreview {
  /** `Success`, or Karmada's reason why they would go nowhere. */
  readonly reason: string
  readonly message: string
  /** The term of several affinities that would choose. */
  readonly affinityName?: string
  readonly clusters: readonly TargetCluster[]
  /** Clusters that do not fit, with the reasons. */
  readonly refused: readonly ClusterDiagnosis[]
}

/** The clusters that a rule of an override policy is for. */
export interface RulePreview {
  readonly rule: number
  readonly clusters: readonly string[]
}

/**
 * Runs the scheduler for a new object of the policy's first selector, which names a kind that each cluster must have. With
 * `replicas`, these are divided as the policy says. Pure. The groups of workload affinity do not count: they depend on
 * the labels of the object.
 */
export function previewPlacement(
  { metadata, spec }: PropagationPolicy,
  clusters: readonly Cluster[],
  replicas: number | undefined,
): PlacementPreview {
  const resource = subjectOf(spec.resourceSelectors[0], metadata.namespace)
  const { reason, message, affinityName, ...placed } = placeBinding({
    spec: {
      resource,
      placement: spec.placement ?? {},
      ...(replicas === undefined ? {} : { replicas }),
    },
    clusters,
  })
  return {
    reason,
    message,
    ...(affinityName === undefined ? {} : { affinityName }),
    clusters: placed.clusters ?? [],
    refused: placed.diagnosis,
  }
}

/** Lists the clusters of each rule. Pure. Rules without a target are for all. */
export function previewOverrides(
  { spec }: OverridePolicy,
  clusters: readonly Cluster[],
): RulePreview[] {
  const { overrideRules, targetCluster, overriders } = spec
  const old = overriders === undefined ? [] : [{ targetCluster }]
  return (overrideRules ?? old).map((each, rule) => ({
    rule,
    clusters: clusters
      .filter((cluster) => matchesAffinity(cluster, each.targetCluster))
      .map(({ metadata }) => metadata.name ?? '')
      .toSorted(),
  }))
}

type Selector = PropagationPolicy['spec']['resourceSelectors'][number]

function subjectOf(selector: Selector | undefined, own: string | undefined) {
  const { apiVersion = 'v1', kind = 'ConfigMap', namespace = own, name = '' } = selector ?? {}
  return { apiVersion, kind, ...(namespace === undefined ? {} : { namespace }), name }
}
