import { ExpectedError, exitCodes, messageOf, type Clock } from '@skerry/base'
import type { SeenMember } from './cluster-state.ts'
import { lookAtMembers, memberNamed, openKnownMembers } from './known-members.ts'
import { removalFault } from './removal-fault.ts'
import { siteBounds } from '../limits-table.ts'

const doing = 'Cannot remove the member'
const { patienceMs, pauseMs } = siteBounds.etcd.removal

/**
 * Removes a member, living or dead, by any member that has a quorum. Throws ExpectedError if the others could not
 * decide anything afterwards, or etcd goes on refusing.
 */
export async function removeMember(
  { dataDir, name }: { readonly dataDir: string; readonly name: string },
  clock: Clock,
  signal: AbortSignal,
): Promise<SeenMember> {
  using known = await openKnownMembers(dataDir, doing, clock)
  const state = await lookAtMembers(known, doing, signal)
  const member = memberNamed(state, name, doing)
  const fault = removalFault(state, member)
  if (fault !== undefined) throw new ExpectedError(`${doing} ${name}: ${fault}`, exitCodes.failure)
  // The member itself would end before it has answered.
  const others = known.urls.filter((url) => url !== member.clientUrl)
  const beganMs = clock.monotonicMs()
  for (;;) {
    try {
      await known.clients.first(others, (each) => each.removeMember(member.id, signal), signal)
      return member
    } catch (cause) {
      signal.throwIfAborted()
      // The answer to a removal that was done may have been lost.
      const { members } = await lookAtMembers(known, doing, signal)
      if (!members.some(({ id }) => id === member.id)) return member
      if (clock.monotonicMs() - beganMs >= patienceMs) {
        const text = `${doing} ${name}: etcd refuses: ${messageOf(cause)}; try again when all others answer`
        throw new ExpectedError(text, exitCodes.failure, { cause })
      }
    }
    await clock.sleep(pauseMs, signal)
  }
}
