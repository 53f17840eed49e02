import { propagationBounds } from '../limits-table.ts'

/** The clusters of one region, zone, provider or label, which are used together or not at all. */
export interface ClusterGroup {
  readonly name: string
  /** The number of clusters in it. */
  readonly size: number
  readonly weight: number
}

export interface GroupConstraints {
  readonly groupsMin: number
  readonly groupsMax: number
  /** The number of clusters that they must have together. */
  readonly sizeMin: number
}

const { combinationsMax } = propagationBounds.selectGroups

/**
 * Returns the combination with the greatest weight, then with the most clusters, then the first found; or a
 * prefix of it, heaviest group first, if that also meets the constraints. The heaviest group comes first;
 * empty if no combination meets the constraints.
 */
export function selectGroups(
  groups: readonly ClusterGroup[],
  constraints: GroupConstraints,
): readonly ClusterGroup[] {
  const found = combinations(groups, constraints).map(combinationOf).toSorted(compareCombinations)
  let [best] = found
  for (const each of found) if (best && isBeginning(each, best)) best = each
  return best?.groups ?? []
}

interface Combination {
  readonly groups: readonly ClusterGroup[]
  readonly weight: number
  readonly size: number
  readonly at: number
}

/** Each combination is the smallest of those that begin as it does, in the order of small groups first. */
function combinations(
  groups: readonly ClusterGroup[],
  { groupsMin, groupsMax, sizeMin }: GroupConstraints,
): ClusterGroup[][] {
  const sorted = groups.toSorted(compareGroups)
  const found: ClusterGroup[][] = []
  let tried = 0
  const extend = (taken: readonly ClusterGroup[], size: number, from: number): void => {
    const isLongEnough = taken.length >= groupsMin && taken.length <= groupsMax
    if (size >= sizeMin && isLongEnough && groups.length > 0) {
      found.push([...taken])
      return
    }
    if (taken.length >= groupsMax) return
    for (let at = from; at < sorted.length && tried < combinationsMax; at += 1) {
      const group = sorted[at]
      if (group === undefined) return
      tried += 1
      extend([...taken, group], size + group.size, at + 1)
    }
  }
  extend([], 0, 0)
  return found
}

function compareGroups(one: ClusterGroup, other: ClusterGroup): number {
  if (one.size !== other.size) return one.size - other.size
  if (one.weight !== other.weight) return other.weight - one.weight
  return one.name < other.name ? -1 : 1
}

function combinationOf(groups: readonly ClusterGroup[], at: number): Combination {
  return {
    groups: groups.toSorted((one, other) => {
      if (one.weight !== other.weight) return other.weight - one.weight
      return one.name < other.name ? -1 : 1
    }),
    weight: groups.reduce((sum, each) => sum + each.weight, 0),
    size: groups.reduce((sum, each) => sum + each.size, 0),
    at,
  }
}

function compareCombinations(one: Combination, other: Combination): number {
  if (one.weight !== other.weight) return other.weight - one.weight
  if (one.size !== other.size) return other.size - one.size
  return one.at - other.at
}

function isBeginning(short: Combination, whole: Combination): boolean {
  return (
    short.groups.length < whole.groups.length &&
    short.groups.every(({ name }, at) => whole.groups[at]?.name === name)
  )
}
