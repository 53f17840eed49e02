import type { Taint } from '@skerry/api'
import {
  apiTime,
  conditionOf,
  conditionTypes,
  type Cluster,
  type ClusterCondition,
} from '@skerry/fleet-kinds'
import {
  matchesAffinity,
  type ClusterTaintPolicy,
  type ConditionMatch,
} from '@skerry/karmada-kinds'

type WantedTaint = Pick<Taint, 'key' | 'value' | 'effect'>

const notReady: WantedTaint = Object.freeze({
  key: 'cluster.karmada.io/not-ready',
  effect: 'NoSchedule',
})
const unreachable: WantedTaint = Object.freeze({
  key: 'cluster.karmada.io/unreachable',
  effect: 'NoSchedule',
})

/**
 * Returns the taints by which a cluster that is not ready, or not heard of, takes no new objects; the same
 * list if nothing changes.
 */
export function taintsByReadiness({ spec, status }: Cluster, nowMs: number): readonly Taint[] {
  const ready = conditionOf(status?.conditions, conditionTypes.ready)
  const wanted = ready === undefined ? notReady : taintOfStatus[ready.status]
  const others = [notReady, unreachable].filter((each) => each !== wanted)
  return withTaints(withoutTaints(spec.taints ?? [], others), wanted ? [wanted] : [], nowMs)
}

const taintOfStatus: Readonly<Record<ClusterCondition['status'], WantedTaint | undefined>> =
  Object.freeze({ True: undefined, False: notReady, Unknown: unreachable })

/** Applies older policies first, so that the newest takes precedence. */
export function taintsByPolicies(
  cluster: Cluster,
  policies: readonly ClusterTaintPolicy[],
  nowMs: number,
): readonly Taint[] {
  const conditions = cluster.status?.conditions ?? []
  let taints: readonly Taint[] = cluster.spec.taints ?? []
  for (const { spec } of policies.toSorted(compareAge)) {
    if (!matchesAffinity(cluster, spec.targetClusters)) continue
    const { addOnConditions = [], removeOnConditions = [] } = spec
    if (areMet(addOnConditions, conditions)) taints = withTaints(taints, spec.taints, nowMs)
    if (areMet(removeOnConditions, conditions)) taints = withoutTaints(taints, spec.taints)
  }
  return taints
}

/** Compares by age; policies of one second by name, which upstream leaves to chance. */
function compareAge(
  { metadata: one }: ClusterTaintPolicy,
  { metadata: other }: ClusterTaintPolicy,
) {
  const [age, otherAge] = [one.creationTimestamp ?? '', other.creationTimestamp ?? '']
  if (age !== otherAge) return age < otherAge ? -1 : 1
  return (one.name ?? '') < (other.name ?? '') ? -1 : 1
}

/** A condition that a cluster does not have meets nothing. */
function areMet(
  matches: readonly ConditionMatch[],
  conditions: readonly ClusterCondition[],
): boolean {
  return (
    matches.length > 0 &&
    matches.every(({ conditionType, operator, statusValues }) =>
      conditions.some(
        ({ type, status }) =>
          type === conditionType && statusValues.includes(status) === (operator === 'In'),
      ),
    )
  )
}

function withTaints(
  taints: readonly Taint[],
  added: readonly WantedTaint[],
  nowMs: number,
): readonly Taint[] {
  const missing = added.filter((taint) => !taints.some((each) => isSame(each, taint)))
  if (missing.length === 0) return taints
  return [...taints, ...missing.map((taint) => ({ ...taint, timeAdded: apiTime(nowMs) }))]
}

function withoutTaints(
  taints: readonly Taint[],
  removed: readonly WantedTaint[],
): readonly Taint[] {
  const rest = taints.filter((taint) => !removed.some((each) => isSame(each, taint)))
  return rest.length === taints.length ? taints : rest
}

/** Compares taints without their values. */
function isSame(one: WantedTaint, other: WantedTaint): boolean {
  return one.key === other.key && one.effect === other.effect
}

/** Formats `cluster now has taints([{Key:a,Value:b,Effect:NoSchedule}])`, as upstream does. */
export function taintsText(taints: readonly Taint[]): string {
  if (taints.length === 0) return 'cluster now does not have taints'
  const texts = taints.map(({ key, value, effect }) =>
    value ? `{Key:${key},Value:${value},Effect:${effect}}` : `{Key:${key},Effect:${effect}}`,
  )
  return `cluster now has taints([${texts.join(',')}])`
}
