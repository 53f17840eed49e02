import type { Outcome } from './corpus.ts'
import { targetsText, type OurOutcome } from './play-ours.ts'
import { isPossibleMessage } from './possible-message.ts'
import type { World } from './world.ts'

/** Returns the difference between upstream's outcome and ours; undefined if there is none, except by chance. */
export function differenceOf(
  golden: Outcome | undefined,
  ours: OurOutcome | undefined,
  { world, binding }: { world: World; binding: string },
): string | undefined {
  if (golden === undefined || ours === undefined) return 'one of them has no outcome'
  if (hasOverflown(golden) || isGroupedOtherwise(world, binding)) return undefined
  const isSaidAlike =
    golden.message === ours.message ||
    (golden.reason === 'NoClusterFit' &&
      isPossibleMessage(golden.message, ours.diagnosis, world.clusters.length))
  const isAlike =
    areTargetsAlike(golden.clusters, ours.clusters, initialOf(world, binding)) &&
    golden.reason === ours.reason &&
    golden.affinityName === ours.affinityName &&
    isSaidAlike
  if (isAlike) return undefined
  const { diagnosis: _, ...shown } = ours
  return `upstream ${JSON.stringify(golden)}, ours ${JSON.stringify(shown)}`
}

/**
 * Reports upstream's overflow: unlimited room is the largest 32-bit integer there, and its sum over several
 * clusters wraps around. Then a workload with zero replicas that is placed again has no room.
 */
function hasOverflown({ message }: Outcome): boolean {
  return /available replicas -\d+ are not enough/.test(message)
}

/** Reports whether upstream ignores the groups, which are not regions, or refuses them. */
function isGroupedOtherwise({ bindings }: World, name: string): boolean {
  const { placement } = bindings.find(({ metadata }) => metadata.name === name)?.spec ?? {}
  const constraints = placement?.spreadConstraints ?? []
  return (
    !constraints.some(({ spreadByField }) => spreadByField === 'region') &&
    constraints.some(({ spreadByField }) => spreadByField !== 'cluster')
  )
}

/** Returns whether the targets are alike except for the order of those at the end that keep their replicas. */
function areTargetsAlike(golden: string, ours: string, initial: readonly string[]): boolean {
  const [theirs, own] = [golden.split(' '), ours.split(' ')]
  const from = theirs.findIndex((target, at) => target !== own[at])
  if (from < 0) return theirs.length === own.length
  const [rest, ownRest] = [theirs.slice(from), own.slice(from)]
  const isKept = (target: string): boolean => initial.includes(target)
  return rest.every(isKept) && rest.toSorted().join(' ') === ownRest.toSorted().join(' ')
}

function initialOf({ bindings }: World, name: string): string[] {
  const binding = bindings.find(({ metadata }) => metadata.name === name)
  return binding === undefined ? [] : targetsText(binding).split(' ')
}
