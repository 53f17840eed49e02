import { ExpectedError, exitCodes, messageOf } from '@skerry/base'
import { quorumOf, type ClusterState, type SeenMember } from './cluster-state.ts'
import { lookAtMembers, memberNamed, openKnownMembers } from './known-members.ts'

const doing = 'Cannot remove the member'

/**
 * Removes a member, living or dead, by any member that has a quorum. Throws ExpectedError if the others could not
 * decide anything afterwards.
 */
export async function removeMember(
  { dataDir, name }: { readonly dataDir: string; readonly name: string },
  signal: AbortSignal,
): Promise<SeenMember> {
  using known = await openKnownMembers(dataDir, doing)
  const state = await lookAtMembers(known, doing, signal)
  const member = memberNamed(state, name, doing)
  const fault = removalFault(state, member)
  if (fault !== undefined) throw new ExpectedError(`${doing} ${name}: ${fault}`, exitCodes.failure)
  // The member itself would end before it has answered.
  const others = known.urls.filter((url) => url !== member.clientUrl)
  try {
    await known.clients.first(others, (each) => each.removeMember(member.id, signal), signal)
  } catch (cause) {
    signal.throwIfAborted()
    const text = `${doing} ${name}: etcd refuses: ${messageOf(cause)}; try again when all others answer`
    throw new ExpectedError(text, exitCodes.failure, { cause })
  }
  return member
}

/** Returns why a removal would end the site's ability to write, or undefined. */
export function removalFault(state: ClusterState, member: SeenMember): string | undefined {
  const voters = state.members.filter(({ isLearner }) => !isLearner)
  if (!state.hasQuorum) {
    return `${state.text}; without a quorum no member can be removed: start the silent ones, or run "skerry site recover" on the machine that shall go on alone`
  }
  if (member.isLearner) return undefined
  const left = voters.filter(({ id }) => id !== member.id)
  if (left.length === 0) return 'it is the only one, and has the whole state'
  const living = left.filter(({ status }) => status !== undefined)
  const needed = quorumOf(left.length)
  if (living.length >= needed) return undefined
  const dead = left.filter(({ status }) => status === undefined).map(({ name }) => name)
  return `${living.length} of the ${left.length} others answer, and ${needed} must; remove or start ${dead.join(', ')} first`
}
