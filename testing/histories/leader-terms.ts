import type { LeaderAct, LeaseRecord } from './history.ts'

export interface TermBounds {
  /** A lease that its holder does not renew may be taken after this time. */
  readonly leaseMs: number
  /** A watcher sees versions this much later or earlier than they were written, relative to each other. */
  readonly toleranceMs: number
}

/**
 * Returns the faults of leaders, as the store saw them: each act must have a revision at which its author held the
 * lease, and nobody takes a lease over before it has run out or was given back. `leases` are all versions of the lease,
 * in the order of revisions.
 */
export function leaderFaults(
  leases: readonly LeaseRecord[],
  acts: readonly LeaderAct[],
  bounds: TermBounds,
): string[] {
  return [...takeOverFaults(leases, bounds), ...actFaults(leases, acts)]
}

function takeOverFaults(
  leases: readonly LeaseRecord[],
  { leaseMs, toleranceMs }: TermBounds,
): string[] {
  return leases.flatMap(({ holder, revision, seenMs }, at) => {
    const before = leases[at - 1]
    if (!before || before.holder === '' || holder === '' || before.holder === holder) return []
    const waitedMs = seenMs - before.seenMs
    if (waitedMs >= leaseMs - toleranceMs) return []
    const text = `${holder} took the lease of ${before.holder} at ${revision}`
    return [`${text}, ${Math.round(waitedMs)} ms after its last renewal`]
  })
}

function actFaults(leases: readonly LeaseRecord[], acts: readonly LeaderAct[]): string[] {
  const [first] = leases
  return acts.flatMap(({ revision, holder, what }) => {
    const term = leases.findLast((each) => each.revision <= revision)
    // Nobody knows who led before the record begins.
    if (!first || !term) return []
    if (term.holder === holder) return []
    const leader = term.holder === '' ? 'nobody' : term.holder
    return [`${holder} did ${what} at ${revision}, when ${leader} led`]
  })
}
