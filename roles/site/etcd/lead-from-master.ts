import { logFailure } from '@skerry/base'
import type { BackupDeps } from './backups.ts'
import { heirOf } from './witness.ts'
import { siteBounds } from '../limits-table.ts'

const { lookMs } = siteBounds.etcd.leading

/**
 * Takes the lead from a witness as soon as a master can have it, until the signal aborts. Each write would otherwise
 * travel to the witness and back, and nobody would care for the members: only the leader's master does.
 */
export async function leadFromMaster(
  { watch, clients, clock, log }: BackupDeps,
  signal: AbortSignal,
): Promise<never> {
  for (;;) {
    await clock.sleep(lookMs, signal)
    const { members } = watch.state
    const { memberId } = watch.record
    const witness = members.find(({ isLeader }) => isLeader)
    if (memberId === undefined || !witness?.clientUrl || heirOf(members) !== memberId) continue
    try {
      await clients.at(witness.clientUrl).moveLeader(memberId, signal)
      log.info('Lead of etcd taken from the witness', { witness: witness.name })
    } catch (error) {
      signal.throwIfAborted()
      const message = 'The witness still leads, trying again'
      logFailure(log, { subject: 'Lead of etcd', message, error })
    }
  }
}
