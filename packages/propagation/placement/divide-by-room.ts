import type { BindingSpec, TargetCluster } from '@skerry/karmada-kinds'
import type { Candidate } from './candidate.ts'
import { divideSeats } from './divide-seats.ts'
import { PlacementError, whileDoing } from './placement-input.ts'
import { replicasByName, sumOfReplicas } from './workload.ts'

/** Divides into as few clusters as possible, or in proportion to the room of each. */
export type DivisionMode = 'Aggregated' | 'DynamicWeight'

export interface DivisionInput {
  readonly candidates: readonly Candidate[]
  readonly spec: BindingSpec
  readonly mode: DivisionMode
  readonly isFresh: boolean
}

/**
 * Keeps placed replicas as far as possible: new replicas are added to them, and surplus ones are removed in
 * proportion. A fresh division starts from nothing. Throws PlacementError if there is no room.
 */
export function divideByRoom(input: DivisionInput): TargetCluster[] {
  const { candidates, spec, isFresh } = input
  const { replicas = 0 } = spec
  const names = new Set(candidates.map(({ name }) => name))
  const kept = (spec.clusters ?? []).filter(({ name }) => names.has(name))
  const assigned = sumOfReplicas(kept)
  if (isFresh) return whileDoing('failed to do fresh scale', () => divideAnew(input, kept))
  if (assigned === replicas) return kept
  return assigned > replicas
    ? whileDoing('failed to scale down', () => divideLess(input, kept))
    : whileDoing('failed to scale up', () => divideMore(input, kept, replicas - assigned))
}

function divideAnew(input: DivisionInput, kept: readonly TargetCluster[]): TargetCluster[] {
  const rooms = input.candidates.map(({ name, allocatable }) => ({
    name,
    replicas: allocatable + (replicasByName(kept).get(name) ?? 0),
  }))
  return divide(input, { rooms, kept: [], preferred: [], replicas: input.spec.replicas ?? 0 })
}

function divideLess(input: DivisionInput, kept: readonly TargetCluster[]): TargetCluster[] {
  const { replicas = 0 } = input.spec
  return divide(input, { rooms: kept, kept: [], preferred: [], replicas })
}

function divideMore(
  input: DivisionInput,
  kept: readonly TargetCluster[],
  replicas: number,
): TargetCluster[] {
  const rooms = input.candidates.map(({ name, allocatable }) => ({ name, replicas: allocatable }))
  return divide(input, { rooms, kept, preferred: kept, replicas })
}

interface Division {
  readonly rooms: readonly TargetCluster[]
  /** The clusters to which the shares are added. */
  readonly kept: readonly TargetCluster[]
  /** The clusters that are filled before others. */
  readonly preferred: readonly TargetCluster[]
  readonly replicas: number
}

function divide(
  { spec, mode }: DivisionInput,
  { rooms, kept, preferred, replicas }: Division,
): TargetCluster[] {
  const sorted = rooms.toSorted((one, other) => (other.replicas ?? 0) - (one.replicas ?? 0))
  const available = sumOfReplicas(sorted)
  if (available < replicas) {
    const message = `Clusters available replicas ${available} are not enough to schedule.`
    throw new PlacementError('Unschedulable', message)
  }
  const used = mode === 'Aggregated' ? fewest(sorted, preferred, replicas) : sorted
  const parties = used.map(({ name, replicas: votes = 0 }) => ({ name, votes }))
  const hasVotes = parties.some(({ votes }) => votes > 0)
  return merge(kept, hasVotes ? divideSeats(replicas, parties, spec.resource.uid) : [])
}

/** The roomiest, after those that have some already, until all replicas fit. */
function fewest(
  rooms: readonly TargetCluster[],
  preferred: readonly TargetCluster[],
  replicas: number,
): TargetCluster[] {
  const names = new Set(
    preferred.filter((each) => (each.replicas ?? 0) > 0).map(({ name }) => name),
  )
  const isPreferred = ({ name }: TargetCluster): boolean => names.has(name)
  const ordered = [...rooms.filter(isPreferred), ...rooms.filter((each) => !isPreferred(each))]
  let sum = 0
  const last = ordered.findIndex((each) => (sum += each.replicas ?? 0) >= replicas)
  return last < 0 ? ordered : ordered.slice(0, last + 1)
}

/** Adds new shares to old ones; old ones without a new share come last, in their order. */
function merge(kept: readonly TargetCluster[], shares: readonly TargetCluster[]): TargetCluster[] {
  if (shares.length === 0) return [...kept]
  const rest = kept.filter(({ name }) => !replicasByName(shares).has(name))
  return [
    ...shares.map(({ name, replicas = 0 }) => ({
      name,
      replicas: replicas + (replicasByName(kept).get(name) ?? 0),
    })),
    ...rest,
  ]
}
