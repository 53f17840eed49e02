import type { BindingSpec, SpreadConstraint } from '@skerry/karmada-kinds'
import type { Cluster } from '@skerry/fleet-kinds'
import { compareCandidates, type Candidate } from './candidate.ts'
import { PlacementError } from './placement-input.ts'
import { selectGroups } from './select-groups.ts'
import { isDuplicated } from './workload.ts'

export interface GroupedConstraints {
  /** The constraint that defines the groups: region, zone, provider or a label. */
  readonly byGroup: SpreadConstraint
  /** The constraint on clusters. If omitted, one cluster of each group. */
  readonly byCluster: SpreadConstraint | undefined
}

/** The best cluster of each group that is taken, then the best of the rest, as many as may be. */
export function selectByGroup(
  candidates: readonly Candidate[],
  spec: BindingSpec,
  { byGroup, byCluster }: GroupedConstraints,
): readonly Candidate[] {
  const members = Map.groupBy(candidates, ({ cluster }) => groupName(cluster, byGroup))
  // The filters have already reported the clusters without a group.
  members.delete('')
  if (members.size < (byGroup.minGroups ?? 0)) {
    const what = byGroup.spreadByField || `label ${byGroup.spreadByLabel}`
    throw refusal(`the number of feasible ${what} is less than spreadConstraint.MinGroups`)
  }
  const groups = [...members].map(([name, clusters]) => ({
    name,
    size: clusters.length,
    weight: weightOf(clusters, spec, byGroup.minGroups ?? 0),
  }))
  const taken = selectGroups(groups, {
    groupsMin: byGroup.minGroups ?? 0,
    groupsMax: mostOf(byGroup, members.size, byGroup),
    sizeMin: byCluster?.minGroups ?? 0,
  }).map(({ name }) => members.get(name) ?? [])
  if (taken.length === 0) {
    throw refusal('the number of clusters is less than the cluster spreadConstraint.MinGroups')
  }
  const firsts = taken.flatMap((members) => members.slice(0, 1))
  const others = taken.flatMap((members) => members.slice(1)).toSorted(compareCandidates)
  const most = byCluster ? mostOf(byCluster, candidates.length, byGroup) : 0
  const left = Math.max(0, most - firsts.length)
  return [...firsts, ...others.slice(0, left)]
}

/** Returns an empty string for a cluster without a group. A cluster with several zones counts in its first. */
function groupName(
  { metadata, spec }: Cluster,
  { spreadByField, spreadByLabel = '' }: SpreadConstraint,
): string {
  switch (spreadByField) {
    case 'region':
      return spec.region ?? ''
    case 'zone':
      return spec.zones?.[0] ?? ''
    case 'provider':
      return spec.provider ?? ''
    case 'cluster':
      return metadata.name ?? ''
    case undefined:
    default:
      return metadata.labels?.[spreadByLabel] ?? ''
  }
}

/** Returns the largest number of groups. If omitted, all of them; for regions none, as upstream. */
function mostOf(
  { maxGroups = 0 }: SpreadConstraint,
  all: number,
  { spreadByField }: SpreadConstraint,
): number {
  return maxGroups > 0 || spreadByField === 'region' ? maxGroups : all
}

/** Room weighs a thousand times as much as a score, which is 100 at most. */
const roomWeight = 1000

function weightOf(members: readonly Candidate[], spec: BindingSpec, groupsMin: number): number {
  return isDuplicated(spec)
    ? weightOfCopies(members, spec.replicas ?? 0)
    : weightOfShare(members, spec, groupsMin)
}

/** Weighs how many of the clusters have room for all replicas, and those clusters' mean score. */
function weightOfCopies(members: readonly Candidate[], replicas: number): number {
  const roomy = members.filter(({ available }) => available >= replicas)
  return roomy.length === 0 ? 0 : roomy.length * roomWeight + meanScore(roomy, roomy.length)
}

/** Weighs whether its best clusters have room for the group's share, and their mean score. */
function weightOfShare(
  members: readonly Candidate[],
  { replicas = 0, placement }: BindingSpec,
  groupsMin: number,
): number {
  const byCluster = placement?.spreadConstraints?.findLast(
    ({ spreadByField }) => spreadByField === 'cluster',
  )
  const clustersMin = Math.max(byCluster?.minGroups ?? 0, groupsMin)
  // Without a minimum of groups there is no share: then any room suffices, and scores alone decide.
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
