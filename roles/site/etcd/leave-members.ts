import { ExpectedError, exitCodes, type Clock } from '@skerry/base'
import { siteBounds } from '../limits-table.ts'
import { etcdFiles } from './embedded-options.ts'
import { lookAtMembers, openKnownMembers } from './known-members.ts'
import { readMemberRecord } from './member-record.ts'
import { removalFault } from './removal-fault.ts'
import { removeMember } from './remove-member.ts'

const doing = 'Cannot change the members of etcd'
const { forgetMs, forgetLookMs, removalsMax } = siteBounds.etcd.leaving

/**
 * Removes all other members, dead ones first, and resolves when this master is the only one and knows it. Its site must run. Throws
 * ExpectedError if the others could not decide that.
 */
export async function removeOthers(
  dataDir: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  for (let removals = 0; ; removals += 1) {
    using known = await openKnownMembers(dataDir, doing, clock)
    const { members } = await lookAtMembers(known, doing, signal)
    const others = members.filter(({ clientUrl }) => clientUrl !== known.record.clientUrl)
    const [next] = [
      ...others.filter(({ status }) => status === undefined),
      ...others.filter(({ status }) => status !== undefined),
    ]
    if (next === undefined) break
    if (removals >= removalsMax) {
      throw new ExpectedError(`${doing}: others keep joining`, exitCodes.failure)
    }
    await removeMember({ dataDir, name: next.name || next.address }, clock, signal)
  }
  await untilForgotten(dataDir, clock, signal)
}

/** The running site notes who the others are. */
async function untilForgotten(dataDir: string, clock: Clock, signal: AbortSignal): Promise<void> {
  const { record: path } = etcdFiles(dataDir)
  const beganMs = clock.monotonicMs()
  for (;;) {
    const { others = [] } = (await readMemberRecord(path)) ?? {}
    if (others.length === 0) return
    if (clock.monotonicMs() - beganMs >= forgetMs) {
      const names = others.map(({ name }) => name).join(', ')
      throw new ExpectedError(`${doing}: the site still counts on ${names}`, exitCodes.failure)
    }
    await clock.sleep(forgetLookMs, signal)
  }
}

/**
 * Takes this master out of the members, and resolves when it is not one of them, or never was. Throws ExpectedError if the others do
 * not answer, or could not decide anything without it.
 */
export async function removeSelf(
  dataDir: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const record = await readMemberRecord(etcdFiles(dataDir).record)
  if (record?.memberId === undefined) return
  using known = await openKnownMembers(dataDir, doing, clock)
  const urls = record.others.map(({ clientUrl }) => clientUrl)
  const isMember = async (): Promise<boolean> => {
    const members = await known.clients.first(urls, (each) => each.members(signal), signal)
    return members.some(({ id }) => id === record.memberId)
  }
  try {
    if (!(await isMember())) return
    const state = await lookAtMembers(known, doing, signal)
    const own = state.members.find(({ id }) => id === record.memberId)
    const fault = own && removalFault(state, own)
    if (fault !== undefined) throw new ExpectedError(`${doing}: ${fault}`, exitCodes.failure)
    const id = record.memberId
    await known.clients.first(urls, (each) => each.removeMember(id, signal), signal)
  } catch (cause) {
    signal.throwIfAborted()
    if (cause instanceof ExpectedError) throw cause
    const text = `${doing}: none of ${urls.join(', ')} answers`
    throw new ExpectedError(text, exitCodes.unreachable, { cause })
  }
}
