import type { BindingSpec, Placement, SpreadConstraint } from '@skerry/karmada-kinds'
import type { Candidate } from './candidate.ts'
import { placesOneSet } from './estimate-replicas.ts'
import { PlacementError } from './placement-input.ts'
import { selectByGroup } from './select-by-group.ts'
import { isDuplicated } from './workload.ts'

/**
 * Selects the candidates that the spread constraints allow, best first. Throws PlacementError if the
 * constraints cannot be met.
 */
export function selectClusters(
  candidates: readonly Candidate[],
  spec: BindingSpec,
): readonly Candidate[] {
  const { placement = {} } = spec
  const constraints = placement.spreadConstraints ?? []
  if (constraints.length === 0 || hasStaticWeights(placement)) return candidates
  const byGroup = groupConstraint(constraints)
  const byCluster = lastOf(constraints, 'cluster')
  if (byGroup !== undefined) {
    return selectByGroup(candidates, spec, { byGroup, byCluster })
  }
  if (byCluster === undefined) {
    throw refusal('just support cluster and region spread constraint')
  }
  const replicas = placesOneSet(spec) ? 1 : (spec.replicas ?? 0)
  return selectByCluster(candidates, byCluster, isDuplicated(spec) ? undefined : replicas)
}

/** The first of these kinds counts. Upstream supports regions only and ignores the others. */
function groupConstraint(constraints: readonly SpreadConstraint[]): SpreadConstraint | undefined {
  return (
    lastOf(constraints, 'region') ??
    lastOf(constraints, 'zone') ??
    lastOf(constraints, 'provider') ??
    constraints.findLast(({ spreadByLabel }) => Boolean(spreadByLabel))
  )
}

/** Static weights already determine the clusters. */
function hasStaticWeights({ replicaScheduling: strategy }: Placement): boolean {
  if (strategy?.replicaSchedulingType !== 'Divided') return false
  if (strategy.replicaDivisionPreference !== 'Weighted') return false
  const { weightPreference } = strategy
  if (weightPreference === undefined) return true
  return (weightPreference.staticWeightList ?? []).length > 0 && !weightPreference.dynamicWeight
}

function lastOf(
  constraints: readonly SpreadConstraint[],
  field: SpreadConstraint['spreadByField'],
): SpreadConstraint | undefined {
  return constraints.findLast(({ spreadByField }) => spreadByField === field)
}

/** The best ones; where replicas are divided, with room for all of them together. */
function selectByCluster(
  candidates: readonly Candidate[],
  { minGroups = 0, maxGroups = 0 }: SpreadConstraint,
  replicas: number | undefined,
): readonly Candidate[] {
  if (candidates.length < minGroups) {
    throw refusal('the number of feasible clusters is less than spreadConstraint.MinGroups')
  }
  const count = Math.min(candidates.length, maxGroups)
  if (replicas === undefined) return candidates.slice(0, count)
  const selected = withRoom(candidates, count, replicas)
  if (selected.length === 0) {
    throw refusal(`no enough resource when selecting ${count} clusters`)
  }
  return selected
}

/**
 * The first so many; from the last of them on, each gives way to the roomiest of the rest until all
 * replicas fit. Empty where they never do.
 */
function withRoom(candidates: readonly Candidate[], count: number, replicas: number): Candidate[] {
  const chosen = candidates.slice(0, count)
  const rest = candidates.slice(count)
  const hasRoom = (): boolean => chosen.reduce((sum, each) => sum + each.available, 0) >= replicas
  for (let at = count - 1; at >= 0 && !hasRoom(); at -= 1) {
    const replaced = chosen[at]
    if (replaced === undefined) break
    const roomiest = roomiestOver(rest, replaced.available)
    const better = rest[roomiest]
    if (better === undefined) continue
    chosen[at] = better
    rest[roomiest] = replaced
  }
  return hasRoom() ? chosen : []
}

/** The place of the first with most room, and more than this; -1 where there is none. */
function roomiestOver(candidates: readonly Candidate[], available: number): number {
  let most = available
  let place = -1
  for (const [at, candidate] of candidates.entries()) {
    if (candidate.available <= most) continue
    most = candidate.available
    place = at
  }
  return place
}

function refusal(message: string): PlacementError {
  return new PlacementError('SchedulerError', message)
}
