import type { BindingSpec, TargetCluster } from '@skerry/karmada-kinds'
import { affinityTerm } from './affinity-terms.ts'
import type { Candidate } from './candidate.ts'
import { divideByRoom, type DivisionMode } from './divide-by-room.ts'
import { divideByWeights } from './divide-by-weights.ts'
import { PlacementError } from './placement-input.ts'

export interface AssignmentInput {
  readonly candidates: readonly Candidate[]
  readonly spec: BindingSpec
  readonly affinityName: string | undefined
  /** Whether a new placement was requested, which starts from nothing. */
  readonly isFresh: boolean
}

/**
 * Decides how many replicas each candidate gets. An object without replicas, or with several components, goes
 * to all candidates unchanged. Throws PlacementError if there is no room.
 */
export function assignReplicas(input: AssignmentInput): TargetCluster[] {
  const { candidates, spec } = input
  const { replicas = 0, replicaRequirements, components = [] } = spec
  if (candidates.length === 0) {
    throw new PlacementError('SchedulerError', 'no clusters available to schedule')
  }
  const hasReplicas = replicas > 0 || replicaRequirements !== undefined
  if (!hasReplicas || components.length > 1) return candidates.map(({ name }) => ({ name }))
  const term = affinityTerm(spec, input.affinityName)
  return term?.overflowAffinities === undefined ? assignTier(input) : assignTiers(input)
}

/** Fills each tier before the next one gets any. */
function assignTiers(input: AssignmentInput): TargetCluster[] {
  const { candidates, spec } = input
  const tiers = Map.groupBy(candidates, ({ order }) => order)
  const assigned: TargetCluster[] = []
  let left = spec.replicas ?? 0
  for (const [, members] of [...tiers].toSorted(([one], [other]) => one - other)) {
    const room = members.reduce((sum, { available }) => sum + available, 0)
    const replicas = Math.min(left, room)
    assigned.push(...assignTier({ ...input, candidates: members, spec: { ...spec, replicas } }))
    left -= replicas
    if (left <= 0) return assigned
  }
  const message = 'Clusters available replicas are not enough to schedule.'
  throw new PlacementError('Unschedulable', message)
}

function assignTier({ candidates, spec, isFresh }: AssignmentInput): TargetCluster[] {
  const strategy = strategyOf(spec)
  return assigners[strategy](candidates, spec, isFresh).filter(({ replicas = 0 }) => replicas > 0)
}

type Strategy = 'Duplicated' | 'StaticWeight' | DivisionMode

type Assigner = (
  candidates: readonly Candidate[],
  spec: BindingSpec,
  isFresh: boolean,
) => TargetCluster[]

const assigners: Readonly<Record<Strategy, Assigner>> = Object.freeze({
  Duplicated: (candidates, { replicas = 0 }) => candidates.map(({ name }) => ({ name, replicas })),
  StaticWeight: divideByWeights,
  Aggregated: (candidates, spec, isFresh) =>
    divideByRoom({ candidates, spec, isFresh, mode: 'Aggregated' }),
  DynamicWeight: (candidates, spec, isFresh) =>
    divideByRoom({ candidates, spec, isFresh, mode: 'DynamicWeight' }),
})

function strategyOf({ placement }: BindingSpec): Strategy {
  const strategy = placement?.replicaScheduling
  if (strategy === undefined) return 'Duplicated'
  const { replicaSchedulingType: type = '', replicaDivisionPreference: preference = '' } = strategy
  if (type === 'Duplicated') return 'Duplicated'
  if (type === 'Divided' && preference === 'Aggregated') return 'Aggregated'
  if (type === 'Divided' && preference === 'Weighted') {
    return strategy.weightPreference?.dynamicWeight ? 'DynamicWeight' : 'StaticWeight'
  }
  const named = `replicaSchedulingType: ${type}, replicaDivisionPreference: ${preference}`
  const advice = 'please try another scheduling strategy'
  const message = `unsupported replica scheduling strategy, ${named}, ${advice}`
  throw new PlacementError('SchedulerError', message)
}
