import {
  labelSelectorOf,
  matchesNodeAffinity,
  type LabelSelector,
  type Pod,
  type TopologySpreadConstraint,
} from '@skerry/api'
import { isNodeEvent, type ClusterEvent } from '../framework/cluster-event.ts'
import {
  refuse,
  refuseForGood,
  scoreMax,
  type NodeFilter,
  type NodeScore,
  type PlacementContext,
  type Plugin,
} from '../framework/plugin.ts'
import type { NodeInfo } from '../framework/node-info.ts'
import { taintToleration } from './node-plugins.ts'

interface Constraint {
  key: string
  maxSkew: number
  minDomains: number
  selects: (pod: Pod) => boolean
  honorsAffinity: boolean
  honorsTaints: boolean
}

export interface TopologySpreadArgs {
  /** The constraints of pods without any. */
  readonly defaults: readonly TopologySpreadConstraint[]
  /** True if the defaults are upstream's own: a node need not have all of their labels. */
  readonly isSystemDefaulted: boolean
}

const hostname = 'kubernetes.io/hostname'

/** Upstream's constraints if neither the pod nor an operator sets any. */
export const topologySpreadDefaults: TopologySpreadArgs = Object.freeze<TopologySpreadArgs>({
  defaults: [
    { maxSkew: 3, topologyKey: hostname, whenUnsatisfiable: 'ScheduleAnyway' },
    { maxSkew: 5, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'ScheduleAnyway' },
  ],
  isSystemDefaulted: true,
})

const noMatch = "node(s) didn't match pod topology spread constraints"

export function podTopologySpread(args: TopologySpreadArgs = topologySpreadDefaults): Plugin {
  return {
    name: 'PodTopologySpread',
    weight: 2,
    filter: (context) => {
      const constraints = constraintsOf(context.pod.pod, 'DoNotSchedule', args)
      return constraints.length === 0 ? undefined : skewFilter(context, constraints)
    },
    score: (context, feasible) => {
      const constraints = constraintsOf(context.pod.pod, 'ScheduleAnyway', args)
      const ownConstraints = context.pod.pod.spec?.topologySpreadConstraints ?? []
      const needsAllLabels = ownConstraints.length > 0 || !args.isSystemDefaulted
      if (constraints.length === 0) return undefined
      return spreadScore(context, { constraints, feasible, needsAllLabels })
    },
    isHelpedBy: (event, pod) => isHelped(event, constraintsOf(pod, 'DoNotSchedule', args), pod),
  }
}

function isHelped(event: ClusterEvent, constraints: readonly Constraint[], pod: Pod): boolean {
  if (event.kind === 'pod-assigned' || event.kind === 'pod-removed') {
    if (event.kind === 'pod-assigned' && !event.aspects.isNew && !event.aspects.labels) return false
    if (event.pod.metadata.namespace !== pod.metadata.namespace) return false
    return constraints.some(({ selects }) => selects(event.pod))
  }
  return isNodeEvent(event, 'labels', 'taints')
}

function skewFilter(context: PlacementContext, constraints: readonly Constraint[]): NodeFilter {
  const domainsOf = countDomains(context, constraints)
  const isSelf = constraints.map((constraint) => constraint.selects(context.pod.pod))
  return (node) => {
    for (const [index, constraint] of constraints.entries()) {
      const value = node.labels[constraint.key]
      if (value === undefined) return refuseForGood(`${noMatch} (missing required label)`)
      const domains = domainsOf[index] ?? new Map<string, number>()
      const least = domains.size < constraint.minDomains ? 0 : Math.min(...domains.values())
      const after = (domains.get(value) ?? 0) + (isSelf[index] === true ? 1 : 0)
      if (after - least > constraint.maxSkew) return refuse(noMatch)
    }
    return undefined
  }
}

/** Counts matching pods by domain, over the nodes that have all the labels. A domain without pods has 0. */
function countDomains(
  context: PlacementContext,
  constraints: readonly Constraint[],
): Map<string, number>[] {
  const counts = constraints.map(() => new Map<string, number>())
  const isCounted = inclusionOf(context)
  for (const node of context.snapshot.nodes) {
    if (!hasAllLabels(node, constraints)) continue
    for (const [index, constraint] of constraints.entries()) {
      if (!isCounted(node, constraint)) continue
      const value = node.labels[constraint.key] ?? ''
      const domains = counts[index]
      domains?.set(value, (domains.get(value) ?? 0) + countPods(context, node, constraint))
    }
  }
  return counts
}

interface SpreadScoring {
  constraints: readonly Constraint[]
  feasible: readonly NodeInfo[]
  needsAllLabels: boolean
}

/** Prefers domains with fewer pods. The fewer domains there are, the less each pod weighs. */
function spreadScore(context: PlacementContext, scoring: SpreadScoring): NodeScore {
  const { constraints, feasible, needsAllLabels } = scoring
  const isIgnored = (node: NodeInfo): boolean => needsAllLabels && !hasAllLabels(node, constraints)
  const scored = feasible.filter((node) => !isIgnored(node))
  const domainsOf = constraints.map(({ key }) => {
    const values = key === hostname ? [] : scored.map((node) => node.labels[key] ?? '')
    return new Map(values.map((value) => [value, 0]))
  })
  const isCounted = inclusionOf(context)
  for (const node of context.snapshot.nodes) {
    if (isIgnored(node)) continue
    for (const [index, constraint] of constraints.entries()) {
      const value = node.labels[constraint.key] ?? ''
      const before = domainsOf[index]?.get(value)
      if (before === undefined || !isCounted(node, constraint)) continue
      domainsOf[index]?.set(value, before + countPods(context, node, constraint))
    }
  }
  const weights = constraints.map(({ key }, index) =>
    Math.log((key === hostname ? scored.length : (domainsOf[index]?.size ?? 0)) + 2),
  )
  return {
    of: (node) => {
      if (isIgnored(node)) return 0
      const sum = constraints.reduce((total, constraint, index) => {
        const value = node.labels[constraint.key]
        if (value === undefined) return total
        const pods =
          constraint.key === hostname
            ? countPods(context, node, constraint)
            : (domainsOf[index]?.get(value) ?? 0)
        return total + pods * (weights[index] ?? 1) + (constraint.maxSkew - 1)
      }, 0)
      return Math.round(sum)
    },
    normalize: (scores, nodes) => fewerIsBetter(scores, nodes.map(isIgnored)),
  }
}

function constraintsOf(pod: Pod, action: string, args: TopologySpreadArgs): Constraint[] {
  const own = pod.spec?.topologySpreadConstraints ?? []
  if (own.length > 0) {
    const acting = own.filter((each) => each.whenUnsatisfiable === action)
    return acting.map((each) => parse(each, pod))
  }
  // The defaults need a group to spread: the pods of the same controller.
  const owner = (pod.metadata.ownerReferences ?? []).find((each) => each.controller === true)
  if (owner === undefined) return []
  const isSibling = (other: Pod): boolean =>
    (other.metadata.ownerReferences ?? []).some((each) => each.uid === owner.uid)
  return args.defaults
    .filter((each) => each.whenUnsatisfiable === action)
    .map((each) => ({ ...parse(each, pod), selects: isSibling }))
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

function hasAllLabels(node: NodeInfo, constraints: readonly Constraint[]): boolean {
  return constraints.every(({ key }) => node.labels[key] !== undefined)
}

/** Returns whether the pods of a node count for a constraint. */
function inclusionOf(
  context: PlacementContext,
): (node: NodeInfo, constraint: Constraint) => boolean {
  const taints = taintToleration.filter?.(context)
  return (node, { honorsAffinity, honorsTaints }) => {
    if (honorsAffinity && !matchesNodeAffinity(context.pod.pod.spec, node)) return false
    return !(honorsTaints && taints?.(node) !== undefined)
  }
}

/** Counts pods of the pod's own namespace, without terminating ones. */
function countPods({ pod }: PlacementContext, node: NodeInfo, constraint: Constraint): number {
  let count = 0
  for (const other of node.pods.values()) {
    if (other.namespace !== pod.namespace || other.pod.metadata.deletionTimestamp !== undefined)
      continue
    if (constraint.selects(other.pod)) count += 1
  }
  return count
}

function fewerIsBetter(scores: number[], areIgnored: readonly boolean[]): number[] {
  const counted = scores.filter((_, index) => areIgnored[index] !== true)
  const low = Math.min(...counted)
  const high = Math.max(0, ...counted)
  return scores.map((score, index) => {
    if (areIgnored[index] === true) return 0
    return high === 0 ? scoreMax : Math.floor((scoreMax * (high + low - score)) / high)
  })
}
