import {
  labelSelectorOf,
  type LabelSelector,
  type Pod,
  type TopologySpreadConstraint,
} from '@skerry/api'
import {
  refuse,
  refuseForGood,
  scoreMax,
  type NodeFilter,
  type PlacementContext,
  type Plugin,
} from '../plugin.ts'
import type { NodeInfo } from '../node-info.ts'
import { nodeAffinity, taintToleration } from './node-plugins.ts'

interface Constraint {
  key: string
  maxSkew: number
  minDomains: number
  selects: (pod: Pod) => boolean
  honorsAffinity: boolean
  honorsTaints: boolean
}

/** What upstream spreads by when neither the pod nor an operator says anything. */
const systemDefaults: readonly TopologySpreadConstraint[] = [
  { maxSkew: 3, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' },
  { maxSkew: 5, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'ScheduleAnyway' },
]

export const podTopologySpread: Plugin = {
  name: 'PodTopologySpread',
  weight: 2,
  filter: (context) => {
    const constraints = constraintsOf(context.pod.pod, 'DoNotSchedule')
    if (constraints.length === 0) return undefined
    const eligible = eligibility(context)
    const counts = constraints.map((constraint) => countByDomain(context, constraint, eligible))
    const isSelf = constraints.map((constraint) => constraint.selects(context.pod.pod))
    return (node) => {
      for (const [index, constraint] of constraints.entries()) {
        const value = node.labels[constraint.key]
        if (value === undefined) {
          return refuseForGood(
            "node(s) didn't match pod topology spread constraints (missing required label)",
          )
        }
        const domains = counts[index] ?? new Map<string, number>()
        const least = domains.size < constraint.minDomains ? 0 : Math.min(...domains.values())
        const after = (domains.get(value) ?? 0) + (isSelf[index] === true ? 1 : 0)
        if (after - least > constraint.maxSkew) {
          return refuse("node(s) didn't match pod topology spread constraints")
        }
      }
      return undefined
    }
  },
  score: (context) => {
    const constraints = softConstraintsOf(context.pod.pod)
    if (constraints.length === 0) return undefined
    const eligible = eligibility(context)
    const counts = constraints.map((constraint) => countByDomain(context, constraint, eligible))
    return {
      of: (node) =>
        constraints.reduce((sum, constraint, index) => {
          const domains = counts[index]
          const value = node.labels[constraint.key]
          if (domains === undefined || value === undefined) return sum
          // Fewer domains make each pod weigh more, as upstream's logarithmic weight does.
          return (
            sum + (domains.get(value) ?? 0) * Math.log(domains.size + 2) + (constraint.maxSkew - 1)
          )
        }, 0),
      normalize: fewerIsBetter,
    }
  },
}

function constraintsOf(pod: Pod, action: string): Constraint[] {
  return (pod.spec?.topologySpreadConstraints ?? [])
    .filter((each) => each.whenUnsatisfiable === action)
    .map((each) => parse(each, pod))
}

/** The defaults need a group to spread: the pods of the same controller, known by the pod's own labels. */
function softConstraintsOf(pod: Pod): Constraint[] {
  if ((pod.spec?.topologySpreadConstraints ?? []).length > 0)
    return constraintsOf(pod, 'ScheduleAnyway')
  const owner = (pod.metadata.ownerReferences ?? []).find((each) => each.controller === true)
  if (owner === undefined) return []
  const isSibling = (other: Pod): boolean =>
    (other.metadata.ownerReferences ?? []).some((each) => each.uid === owner.uid)
  return systemDefaults.map((each) => ({ ...parse(each, pod), selects: isSibling }))
}

function parse(constraint: TopologySpreadConstraint, pod: Pod): Constraint {
  const labels = pod.metadata.labels ?? {}
  const selectors: LabelSelector[] = [labelSelectorOf(constraint.labelSelector)]
  for (const key of constraint.matchLabelKeys ?? []) {
    const value = labels[key]
    if (value !== undefined) {
      selectors.push(
        labelSelectorOf({ matchExpressions: [{ key, operator: 'In', values: [value] }] }),
      )
    }
  }
  return {
    key: constraint.topologyKey,
    maxSkew: constraint.maxSkew,
    minDomains: constraint.minDomains ?? 1,
    selects: (other) => selectors.every((each) => each.matches(other.metadata.labels ?? {})),
    honorsAffinity: (constraint.nodeAffinityPolicy ?? 'Honor') === 'Honor',
    honorsTaints: (constraint.nodeTaintsPolicy ?? 'Ignore') === 'Honor',
  }
}

interface Eligibility {
  affinity: NodeFilter | undefined
  taints: NodeFilter | undefined
}

function eligibility(context: PlacementContext): Eligibility {
  return { affinity: nodeAffinity.filter?.(context), taints: taintToleration.filter?.(context) }
}

/** Matching pods of the pod's namespace by domain, over the nodes that count; a domain without pods has 0. */
function countByDomain(
  { pod, snapshot }: PlacementContext,
  constraint: Constraint,
  eligible: Eligibility,
): Map<string, number> {
  const counts = new Map<string, number>()
  for (const node of snapshot.nodes) {
    const value = node.labels[constraint.key]
    if (value === undefined || !isCounted(node, constraint, eligible)) continue
    let count = counts.get(value) ?? 0
    for (const other of node.pods.values()) {
      if (other.namespace !== pod.namespace || other.pod.metadata.deletionTimestamp !== undefined)
        continue
      if (constraint.selects(other.pod)) count += 1
    }
    counts.set(value, count)
  }
  return counts
}

function isCounted(node: NodeInfo, constraint: Constraint, eligible: Eligibility): boolean {
  if (constraint.honorsAffinity && eligible.affinity?.(node) !== undefined) return false
  return !(constraint.honorsTaints && eligible.taints?.(node) !== undefined)
}

function fewerIsBetter(scores: number[]): number[] {
  const low = Math.min(...scores)
  const high = Math.max(...scores)
  return scores.map((score) =>
    high === 0 ? scoreMax : Math.floor((scoreMax * (high + low - score)) / high),
  )
}
