import { logFailure } from '@skerry/base'
import type { BackupDeps } from './backups.ts'
import type { ClusterState, SeenMember } from './cluster-state.ts'
import { siteBounds } from '../limits-table.ts'

const bounds = siteBounds.etcd.upkeep

/**
 * Cares for all members as long as this master's leads them, until the signal aborts: removes learners that nobody hears,
 * gives unused parts of files back, and ends the alarm of a full one.
 */
export async function keepMembers(
  quotaBytes: number,
  deps: BackupDeps,
  signal: AbortSignal,
): Promise<never> {
  const { clock, log, watch } = deps
  const silentSince = new Map<string, number>()
  let defragmentedMs = clock.monotonicMs()
  for (;;) {
    await clock.sleep(bounds.lookMs, signal)
    if (!watch.isLeader) {
      silentSince.clear()
      continue
    }
    try {
      await removeLostLearners(silentSince, deps, signal)
      const isFull = await own(deps).isFull(signal)
      if (!isFull && clock.monotonicMs() - defragmentedMs < bounds.defragmentEveryMs) continue
      await defragment(deps, isFull, signal)
      defragmentedMs = clock.monotonicMs()
      if (isFull) await allowWrites(quotaBytes, deps, signal)
    } catch (error) {
      signal.throwIfAborted()
      const message = 'Members of etcd not cared for, trying again'
      logFailure(log, { subject: 'Care for the members', message, error })
    }
  }
}

/** A master that was lost in the middle of its join would keep further ones from joining: etcd allows one learner. */
async function removeLostLearners(
  silentSince: Map<string, number>,
  { watch, clock, log, ...deps }: BackupDeps,
  signal: AbortSignal,
): Promise<void> {
  const nowMs = clock.monotonicMs()
  const silent = watch.state.members.filter(({ isLearner, status }) => isLearner && !status)
  for (const id of silentSince.keys()) {
    if (!silent.some((each) => each.id === id)) silentSince.delete(id)
  }
  for (const { id, address } of silent) {
    const sinceMs = silentSince.get(id) ?? nowMs
    silentSince.set(id, sinceMs)
    if (nowMs - sinceMs < bounds.learnerMs) continue
    await own({ watch, ...deps }).removeMember(id, signal)
    log.info('Learner removed that nobody heard', { address })
  }
}

/** One member after the other, since each answers nothing meanwhile; the leader last. */
async function defragment(
  { watch, clients, log }: BackupDeps,
  isFull: boolean,
  signal: AbortSignal,
): Promise<void> {
  const { members } = await watch.look(signal)
  // A member more that is silent would be one too many.
  if (!isFull && !members.every(({ isHealthy }) => isHealthy)) return
  const ordered = members.toSorted((a, b) => Number(a.isLeader) - Number(b.isLeader))
  for (const { name, clientUrl, status } of ordered) {
    if (!clientUrl || !status || !(isFull || isWorthIt(status))) continue
    await clients.at(clientUrl).defragment(signal)
    log.info('Member of etcd defragmented', { name, beforeBytes: status.dbSizeBytes })
  }
}

function isWorthIt({ dbSizeBytes, dbInUseBytes }: NonNullable<SeenMember['status']>): boolean {
  return (
    dbSizeBytes >= bounds.defragmentBytesMin &&
    dbInUseBytes <= dbSizeBytes * (1 - bounds.defragmentShare)
  )
}

async function allowWrites(
  quotaBytes: number,
  deps: BackupDeps,
  signal: AbortSignal,
): Promise<void> {
  const state: ClusterState = await deps.watch.look(signal)
  const largest = Math.max(...state.members.map(({ status }) => status?.dbSizeBytes ?? 0))
  if (largest > quotaBytes * bounds.fullShare) {
    deps.log.error('etcd is full: delete objects, or raise --etcd-quota-bytes', {
      largestBytes: largest,
      quotaBytes,
    })
    return
  }
  await own(deps).disarmNoSpace(signal)
  deps.log.info('etcd accepts writes again', { largestBytes: largest, quotaBytes })
}

function own({ watch, clients }: Pick<BackupDeps, 'watch' | 'clients'>) {
  return clients.at(watch.ownUrl)
}
