import type { BindingSpec } from '../binding/resource-binding.ts'
import type { SpreadConstraint } from '../policy/propagation-policy.ts'
import { compareCandidates, type Candidate } from './candidate.ts'
import { PlacementError } from './placement-input.ts'
import { selectGroups } from './select-groups.ts'
import { isDuplicated } from './workload.ts'

export interface RegionConstraints {
  readonly byRegion: SpreadConstraint
  /** Empty where only regions are constrained. */
  readonly byCluster: SpreadConstraint
}

/** The best cluster of each region that is taken, then the best of the rest, as many as may be. */
export function selectByRegion(
  candidates: readonly Candidate[],
  spec: BindingSpec,
  { byRegion, byCluster }: RegionConstraints,
): readonly Candidate[] {
  const regions = regionsOf(candidates)
  if (regions.size < (byRegion.minGroups ?? 0)) {
    throw refusal('the number of feasible region is less than spreadConstraint.MinGroups')
  }
  const groups = [...regions].map(([name, members]) => ({
    name,
    size: members.length,
    weight: weightOf(members, spec, byRegion.minGroups ?? 0),
  }))
  const taken = selectGroups(groups, {
    groupsMin: byRegion.minGroups ?? 0,
    groupsMax: byRegion.maxGroups ?? 0,
    sizeMin: byCluster.minGroups ?? 0,
  }).map(({ name }) => regions.get(name) ?? [])
  if (taken.length === 0) {
    throw refusal('the number of clusters is less than the cluster spreadConstraint.MinGroups')
  }
  const firsts = taken.flatMap((members) => members.slice(0, 1))
  const others = taken.flatMap((members) => members.slice(1)).toSorted(compareCandidates)
  const left = Math.max(0, (byCluster.maxGroups ?? 0) - firsts.length)
  return [...firsts, ...others.slice(0, left)]
}

function regionsOf(candidates: readonly Candidate[]): Map<string, Candidate[]> {
  const regions = new Map<string, Candidate[]>()
  for (const candidate of candidates) {
    const { region } = candidate.cluster.spec
    if (!region) continue
    const members = regions.get(region)
    if (members) members.push(candidate)
    else regions.set(region, [candidate])
  }
  return regions
}

/** Room weighs a thousand times what a score does, which is 100 at most. */
const roomWeight = 1000

function weightOf(members: readonly Candidate[], spec: BindingSpec, groupsMin: number): number {
  return isDuplicated(spec)
    ? weightOfCopies(members, spec.replicas ?? 0)
    : weightOfShare(members, spec, groupsMin)
}

/** How many of the clusters have room for all replicas, and how good those are. */
function weightOfCopies(members: readonly Candidate[], replicas: number): number {
  const roomy = members.filter(({ available }) => available >= replicas)
  return roomy.length === 0 ? 0 : roomy.length * roomWeight + meanScore(roomy, roomy.length)
}

/** Whether its best clusters have room for the region's share, and how good those are. */
function weightOfShare(
  members: readonly Candidate[],
  { replicas = 0, placement }: BindingSpec,
  groupsMin: number,
): number {
  const byCluster = placement?.spreadConstraints?.findLast(
    ({ spreadByField }) => spreadByField === 'cluster',
  )
  const clustersMin = Math.max(byCluster?.minGroups ?? 0, groupsMin)
  // Of no group there is no share: then any room will do, and scores alone decide.
  const share = groupsMin === 0 ? 0 : Math.ceil(replicas / groupsMin)
  let room = 0
  for (const [at, { available }] of members.entries()) {
    room += available
    const isEnough = room >= share && at + 1 >= clustersMin
    if (isEnough) return share * roomWeight + meanScore(members.slice(0, at + 1), at + 1)
  }
  return Math.min(room, share) * roomWeight + meanScore(members, members.length)
}

function meanScore(members: readonly Candidate[], count: number): number {
  return Math.floor(members.reduce((sum, { score }) => sum + score, 0) / count)
}

function refusal(message: string): PlacementError {
  return new PlacementError('SchedulerError', message)
}
