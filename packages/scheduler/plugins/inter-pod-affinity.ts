import { labelSelectorOf, type LabelSelector, type PodAffinityTerm, type Pod } from '@skerry/api'
import { isNodeEvent, type ClusterEvent } from '../framework/cluster-event.ts'
import {
  refuse,
  refuseForGood,
  scoreMax,
  type NodeFilter,
  type NodeScore,
  type PlacementContext,
  type Plugin,
  type Snapshot,
} from '../framework/plugin.ts'
import type { NodeInfo } from '../framework/node-info.ts'
import { podInfoOf, type PodInfo } from '../framework/pod-info.ts'

/** One affinity term with its parsed selectors. */
interface Term {
  topologyKey: string
  /**
   * Returns true if the term selects the pod. Without a snapshot, every namespace that could be
   * selected is assumed to be.
   */
  selects: (pod: PodInfo, snapshot: Snapshot | undefined) => boolean
}

/** Maps topologyKey, then the label's value, to the number (or weight) of matching pods there. */
type TopologyCounts = Map<string, Map<string, number>>

export interface InterPodAffinityArgs {
  /** The weight of a running pod's own required affinity for this one, in addition to the preferences. */
  readonly hardPodAffinityWeight: number
  readonly ignorePreferredTermsOfExistingPods: boolean
}

const interPodAffinityDefaults: InterPodAffinityArgs = Object.freeze({
  hardPodAffinityWeight: 1,
  ignorePreferredTermsOfExistingPods: false,
})

export function interPodAffinity(args: InterPodAffinityArgs = interPodAffinityDefaults): Plugin {
  return {
    name: 'InterPodAffinity',
    weight: 2,
    filter: affinityFilter,
    score: (context) => scoreByPreference(context, args),
    isHelpedBy,
  }
}

function affinityFilter(context: PlacementContext): NodeFilter | undefined {
  const affinity = termsOf(context.pod.pod, 'podAffinity')
  const antiAffinity = termsOf(context.pod.pod, 'podAntiAffinity')
  const repelled = domainsThatRepel(context)
  if (affinity.length === 0 && antiAffinity.length === 0 && repelled.size === 0) return undefined
  const wanted = countThoseOfAllTerms(context, affinity)
  const unwanted = countEachTerm(context, antiAffinity)
  return (node) => {
    if (!satisfiesAffinity(context, node, { terms: affinity, counts: wanted })) {
      return refuseForGood("node(s) didn't match pod affinity rules")
    }
    if (antiAffinity.some((term, index) => countAt(unwanted[index], node, term.topologyKey) > 0)) {
      return refuse("node(s) didn't match pod anti-affinity rules")
    }
    for (const [key, values] of repelled) {
      const value = node.labels[key]
      if (value !== undefined && values.has(value)) {
        return refuse("node(s) didn't satisfy existing pods anti-affinity rules")
      }
    }
    return undefined
  }
}

/** Returns true if a pod that a term of either side selects was added or removed, or a topology changed. */
function isHelpedBy(event: ClusterEvent, pod: Pod): boolean {
  if (isNodeEvent(event, 'labels')) return true
  if (event.kind === 'namespace') return true
  if (event.kind !== 'pod-assigned' && event.kind !== 'pod-removed') return false
  if (event.kind === 'pod-assigned' && !event.aspects.isNew && !event.aspects.labels) return false
  const other = podInfoOf(event.pod)
  const isNamed = [...termsOf(pod, 'podAffinity'), ...termsOf(pod, 'podAntiAffinity')].some(
    (term) => term.selects(other, anyNamespace),
  )
  if (isNamed || event.kind === 'pod-assigned') return isNamed
  const own = podInfoOf(pod)
  return termsOf(event.pod, 'podAntiAffinity').some((term) => term.selects(own, anyNamespace))
}

/** The namespace's labels are not known here, so they are assumed to match. */
const anyNamespace = undefined

function termsOf(pod: Pod, field: 'podAffinity' | 'podAntiAffinity'): Term[] {
  const terms = pod.spec?.affinity?.[field]?.requiredDuringSchedulingIgnoredDuringExecution ?? []
  return terms.map((term) => parseTerm(term, pod))
}

function parseTerm(term: PodAffinityTerm, owner: Pod): Term {
  const selector = withLabelKeys(term, owner)
  const namespaces = term.namespaces ?? []
  const namespaceSelector =
    term.namespaceSelector === undefined ? undefined : labelSelectorOf(term.namespaceSelector)
  const ownNamespace = owner.metadata.namespace ?? ''
  return {
    topologyKey: term.topologyKey,
    selects(pod, snapshot) {
      const isNamespace =
        namespaces.includes(pod.namespace) ||
        (namespaceSelector === undefined
          ? namespaces.length === 0 && pod.namespace === ownNamespace
          : snapshot === undefined ||
            namespaceSelector.matches(snapshot.namespace(pod.namespace)?.metadata.labels ?? {}))
      return isNamespace && selector.every((each) => each.matches(pod.pod.metadata.labels ?? {}))
    },
  }
}

/**
 * Adds `key in (own value)` for matchLabelKeys, and `key notin (own value)` for mismatchLabelKeys
 * (KEP-3633).
 */
function withLabelKeys(term: PodAffinityTerm, owner: Pod): LabelSelector[] {
  const labels = owner.metadata.labels ?? {}
  const requirement = (key: string, operator: string): LabelSelector[] => {
    const value = labels[key]
    return value === undefined
      ? []
      : [labelSelectorOf({ matchExpressions: [{ key, operator, values: [value] }] })]
  }
  return [
    labelSelectorOf(term.labelSelector),
    ...(term.matchLabelKeys ?? []).flatMap((key) => requirement(key, 'In')),
    ...(term.mismatchLabelKeys ?? []).flatMap((key) => requirement(key, 'NotIn')),
  ]
}

function countEachTerm({ snapshot }: PlacementContext, terms: readonly Term[]): TopologyCounts[] {
  const counts = terms.map((): TopologyCounts => new Map())
  if (terms.length === 0) return counts
  for (const node of snapshot.nodes) {
    for (const pod of node.pods.values()) {
      for (const [index, term] of terms.entries()) {
        if (term.selects(pod, snapshot)) bump(counts[index], node, { key: term.topologyKey, by: 1 })
      }
    }
  }
  return counts
}

/** Counts pods that match all affinity terms of this pod. */
function countThoseOfAllTerms(
  { snapshot }: PlacementContext,
  terms: readonly Term[],
): TopologyCounts {
  const counts: TopologyCounts = new Map()
  if (terms.length === 0) return counts
  for (const node of snapshot.nodes) {
    for (const pod of node.pods.values()) {
      if (!terms.every((term) => term.selects(pod, snapshot))) continue
      for (const { topologyKey } of terms) bump(counts, node, { key: topologyKey, by: 1 })
    }
  }
  return counts
}

function bump(
  counts: TopologyCounts | undefined,
  node: NodeInfo,
  { key, by }: { key: string; by: number },
): void {
  const value = node.labels[key]
  if (counts === undefined || value === undefined) return
  const values = counts.get(key) ?? new Map<string, number>()
  values.set(value, (values.get(value) ?? 0) + by)
  counts.set(key, values)
}

function countAt(counts: TopologyCounts | undefined, node: NodeInfo, key: string): number {
  const value = node.labels[key]
  return value === undefined ? 0 : (counts?.get(key)?.get(value) ?? 0)
}

/**
 * Every term needs a matching pod in the node's domain. The first pod of a group with affinity to
 * itself has none yet: it may start on any node that has the topology.
 */
function satisfiesAffinity(
  { pod, snapshot }: PlacementContext,
  node: NodeInfo,
  { terms, counts }: { terms: readonly Term[]; counts: TopologyCounts },
): boolean {
  if (terms.some((term) => node.labels[term.topologyKey] === undefined)) return false
  if (terms.every((term) => countAt(counts, node, term.topologyKey) > 0)) return true
  return counts.size === 0 && terms.every((term) => term.selects(pod, snapshot))
}

/** Returns domains in which a running pod has an anti-affinity to this one. */
function domainsThatRepel({ pod, snapshot }: PlacementContext): Map<string, Set<string>> {
  const domains = new Map<string, Set<string>>()
  for (const node of snapshot.nodes) {
    for (const other of node.podsWithAffinity.values()) {
      for (const term of termsOf(other.pod, 'podAntiAffinity')) {
        const value = node.labels[term.topologyKey]
        if (value === undefined || !term.selects(pod, snapshot)) continue
        domains.set(term.topologyKey, (domains.get(term.topologyKey) ?? new Set()).add(value))
      }
    }
  }
  return domains
}

function scoreByPreference(
  context: PlacementContext,
  args: InterPodAffinityArgs,
): NodeScore | undefined {
  const { pod, snapshot } = context
  const own = preferencesOf(pod.pod)
  // Upstream's shortcut, which also skips the requirements of running pods.
  if (own.length === 0 && args.ignorePreferredTermsOfExistingPods) return undefined
  const counts: TopologyCounts = new Map()
  for (const node of snapshot.nodes) {
    if (own.length > 0) {
      for (const other of node.pods.values()) {
        for (const { term, weight } of own) {
          if (term.selects(other, snapshot))
            bump(counts, node, { key: term.topologyKey, by: weight })
        }
      }
    }
    for (const other of node.podsWithAffinity.values()) {
      for (const { term, weight } of wishesOf(other.pod, args)) {
        if (term.selects(pod, snapshot)) bump(counts, node, { key: term.topologyKey, by: weight })
      }
    }
  }
  if (counts.size === 0) return undefined
  return {
    of: (node) => [...counts.keys()].reduce((sum, key) => sum + countAt(counts, node, key), 0),
    normalize: normalizeByRange,
  }
}

/** Returns a running pod's preferences about new pods. */
function wishesOf(pod: Pod, args: InterPodAffinityArgs): { term: Term; weight: number }[] {
  const preferred = args.ignorePreferredTermsOfExistingPods ? [] : preferencesOf(pod)
  const weight = args.hardPodAffinityWeight
  const required = weight === 0 ? [] : termsOf(pod, 'podAffinity')
  return [...preferred, ...required.map((term) => ({ term, weight }))]
}

function preferencesOf(pod: Pod): { term: Term; weight: number }[] {
  const near =
    pod.spec?.affinity?.podAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []
  const apart =
    pod.spec?.affinity?.podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []
  return [
    ...near.map((each) => ({ term: parseTerm(each.podAffinityTerm, pod), weight: each.weight })),
    ...apart.map((each) => ({ term: parseTerm(each.podAffinityTerm, pod), weight: -each.weight })),
  ]
}

function normalizeByRange(scores: number[]): number[] {
  const low = Math.min(...scores)
  const span = Math.max(...scores) - low
  return scores.map((score) => (span === 0 ? 0 : Math.floor((scoreMax * (score - low)) / span)))
}
