import { labelSelectorOf, type LabelSelector, type PodAffinityTerm, type Pod } from '@skerry/api'
import { refuse, scoreMax, type PlacementContext, type Plugin, type Snapshot } from '../plugin.ts'
import type { NodeInfo } from '../node-info.ts'
import type { PodInfo } from '../pod-info.ts'

/** One affinity term with its selectors parsed. */
interface Term {
  topologyKey: string
  selects: (pod: PodInfo, snapshot: Snapshot) => boolean
}

/** topologyKey, then value of that label, then how many matching pods (or what weight) are there. */
type TopologyCounts = Map<string, Map<string, number>>

export const interPodAffinity: Plugin = {
  name: 'InterPodAffinity',
  weight: 2,
  filter: (context) => {
    const affinity = termsOf(context.pod.pod, 'podAffinity')
    const antiAffinity = termsOf(context.pod.pod, 'podAntiAffinity')
    const repelled = domainsThatRepel(context)
    if (affinity.length === 0 && antiAffinity.length === 0 && repelled.size === 0) return undefined
    const wanted = countEachTerm(context, affinity)
    const unwanted = countEachTerm(context, antiAffinity)
    return (node) => {
      if (!satisfiesAffinity(context, node, { terms: affinity, counts: wanted })) {
        return refuse("node(s) didn't match pod affinity rules")
      }
      if (
        antiAffinity.some((term, index) => countAt(unwanted[index], node, term.topologyKey) > 0)
      ) {
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
  },
  score: (context) => scoreByPreference(context),
}

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
          : namespaceSelector.matches(snapshot.namespace(pod.namespace)?.metadata.labels ?? {}))
      return isNamespace && selector.every((each) => each.matches(pod.pod.metadata.labels ?? {}))
    },
  }
}

/** matchLabelKeys adds `key in (own value)`, mismatchLabelKeys `key notin (own value)` (KEP-3633). */
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
 * Every term needs a matching pod in the node's domain. The first pod of a group that wants its own
 * kind near has none yet: it may start anywhere that has the topology.
 */
function satisfiesAffinity(
  { pod, snapshot }: PlacementContext,
  node: NodeInfo,
  { terms, counts }: { terms: readonly Term[]; counts: readonly TopologyCounts[] },
): boolean {
  if (terms.some((term) => node.labels[term.topologyKey] === undefined)) return false
  if (terms.every((term, index) => countAt(counts[index], node, term.topologyKey) > 0)) return true
  const isNobodyThere = counts.every((each) => each.size === 0)
  return isNobodyThere && terms.every((term) => term.selects(pod, snapshot))
}

/** Domains in which a running pod has said that it wants no pod like this one. */
function domainsThatRepel({ pod, snapshot }: PlacementContext): Map<string, Set<string>> {
  const domains = new Map<string, Set<string>>()
  for (const node of snapshot.nodes) {
    for (const other of node.pods.values()) {
      if (!other.hasAffinity) continue
      for (const term of termsOf(other.pod, 'podAntiAffinity')) {
        const value = node.labels[term.topologyKey]
        if (value === undefined || !term.selects(pod, snapshot)) continue
        domains.set(term.topologyKey, (domains.get(term.topologyKey) ?? new Set()).add(value))
      }
    }
  }
  return domains
}

/** How much a running pod's own required affinity for this one counts, beside the preferences. */
const hardAffinityWeight = 1

function scoreByPreference(context: PlacementContext): ReturnType<NonNullable<Plugin['score']>> {
  const { pod, snapshot } = context
  const own = preferencesOf(pod.pod)
  const counts: TopologyCounts = new Map()
  for (const node of snapshot.nodes) {
    for (const other of node.pods.values()) {
      for (const { term, weight } of own) {
        if (term.selects(other, snapshot)) bump(counts, node, { key: term.topologyKey, by: weight })
      }
      if (!other.hasAffinity) continue
      const theirs = [
        ...preferencesOf(other.pod),
        ...termsOf(other.pod, 'podAffinity').map((term) => ({ term, weight: hardAffinityWeight })),
      ]
      for (const { term, weight } of theirs) {
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
