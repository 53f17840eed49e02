import type { EtcdMember } from '@skerry/store'
import { isWitness } from './witness.ts'

/** A master that becomes a member, as far as it knows itself. */
export interface Joiner {
  readonly name: string
  readonly peerUrl: string
  /** Set once it was added. */
  readonly memberId?: string | undefined
  /** True if etcd has written anything on this machine. */
  readonly hasData: boolean
  /** The name of the member whose place it takes. */
  readonly replaces?: string | undefined
}

export type JoinStep =
  | { readonly does: 'remove'; readonly member: EtcdMember; readonly mustBeSilent: boolean }
  | { readonly does: 'add' }
  /** `isFresh`: files of an earlier try are in the way. */
  | { readonly does: 'start'; readonly member: EtcdMember }
  | { readonly does: 'refuse'; readonly why: string }

/**
 * Decides the next step of a join from the members. Each step changes them or ends the join, so that one that was
 * killed at any point goes on where it was.
 */
export function nextJoinStep(members: readonly EtcdMember[], joiner: Joiner): JoinStep {
  const { name, peerUrl, memberId, replaces } = joiner
  const mine = members.find(({ id }) => id === memberId)
  if (mine) return stepOf(mine, joiner)
  const before = members.find(({ peerUrls }) => peerUrls.includes(peerUrl))
  if (before && isHalf(before)) return { does: 'remove', member: before, mustBeSilent: false }
  const replaced = members.find((each) => replaces !== undefined && each.name === replaces)
  if (replaced) return { does: 'remove', member: replaced, mustBeSilent: true }
  if (before) {
    const why = `${before.name} is a member at the same address; pass --replaces ${before.name} if its data is lost`
    return { does: 'refuse', why }
  }
  const namesake = members.find((each) => each.name === name)
  if (namesake) {
    const option = isWitness(name) ? '--name' : '--master-name'
    const why = `another member at ${namesake.peerUrls.join()} is named ${name}; pass ${option}, or --replaces ${name} if that one is lost`
    return { does: 'refuse', why }
  }
  return { does: 'add' }
}

function stepOf(mine: EtcdMember, { hasData, replaces, name }: Joiner): JoinStep {
  if (hasData || mine.name === '') return { does: 'start', member: mine }
  // Without its files it would break the promises that it has given to the others.
  if (mine.isLearner || replaces === mine.name) {
    return { does: 'remove', member: mine, mustBeSilent: false }
  }
  const why = `the data of member ${name} is gone from this machine; pass --replaces ${name}`
  return { does: 'refuse', why }
}

/** Returns the name under which a join goes on: as long as no member knows it, the given one counts. */
export function nameToJoin(
  begun: { readonly name: string; readonly memberId?: string },
  given: string,
): string {
  return begun.memberId === undefined ? given : begun.name
}

/** A member that a join left behind: it has no vote, or has never started. */
function isHalf({ isLearner, name }: EtcdMember): boolean {
  return isLearner || name === ''
}

/** The value of etcd's --initial-cluster for a member that joins these. */
export function initialClusterOf(
  members: readonly EtcdMember[],
  own: { readonly id: string; readonly name: string },
): string {
  return members
    .flatMap(({ id, name, peerUrls }) => {
      // Others find a member by its address; only the names must differ.
      const called = id === own.id ? own.name : name || `member-${id}`
      return peerUrls.map((url) => `${called}=${url}`)
    })
    .join(',')
}
