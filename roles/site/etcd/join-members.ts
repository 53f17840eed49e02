import { rm } from 'node:fs/promises'
import {
  createBackoff,
  ExpectedError,
  exitCodes,
  logFailure,
  messageOf,
  type Clock,
  type Logger,
  type Random,
} from '@skerry/base'
import type { EtcdMember } from '@skerry/store'
import type { EtcdFiles } from './embedded-options.ts'
import { initialClusterOf, nextJoinStep, type JoinStep } from './join-plan.ts'
import type { MemberClients } from './member-clients.ts'
import { hasMemberData, writeMemberRecord, type MemberRecord } from './member-record.ts'
import { siteBounds } from '../limits-table.ts'

export interface JoinDeps {
  readonly clients: MemberClients
  readonly files: EtcdFiles
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

const { retry } = siteBounds.etcd.joining

/**
 * Makes this master a learner of the cluster, whatever an earlier try has left behind. Tries until the signal aborts.
 * Resolves with the record to start with, and etcd's --initial-cluster. Throws ExpectedError if a person must decide.
 */
export async function becomeLearner(
  given: MemberRecord,
  replaces: string | undefined,
  deps: JoinDeps,
  signal: AbortSignal,
): Promise<{ record: MemberRecord; initialCluster: string }> {
  const { clients, clock, random, log } = deps
  const backoff = createBackoff(retry, random)
  let record = given
  for (;;) {
    try {
      const members = await membersOf(clients, record, signal)
      record = await withOthers(record, members, deps)
      const known = { ...record, hasData: await hasMemberData(deps.files), replaces }
      const step = nextJoinStep(members, known)
      if (step.does === 'start') {
        return {
          record,
          initialCluster: initialClusterOf(members, { ...record, id: step.member.id }),
        }
      }
      record = await take(step, record, deps, signal)
      backoff.reset()
      continue
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof ExpectedError) throw error
      // It may have its vote already: then the others could not decide before it is there.
      if (record.memberId !== undefined && (await hasMemberData(deps.files))) {
        return { record, initialCluster: `${record.name}=${record.peerUrl}` }
      }
      // For some seconds after a change etcd calls its cluster unhealthy, and refuses the next one.
      log.info('Join of the members waits', { reason: messageOf(error) })
    }
    await clock.sleep(backoff.nextMs(), signal)
  }
}

/** Gives this member its vote as soon as it has caught up. Tries until the signal aborts. */
export async function becomeVoter(
  record: MemberRecord,
  { clients, clock, random, log }: JoinDeps,
  signal: AbortSignal,
): Promise<void> {
  const backoff = createBackoff(retry, random)
  for (;;) {
    try {
      const members = await membersOf(clients, record, signal)
      const mine = members.find(({ id }) => id === record.memberId)
      if (mine === undefined) throw removed(record)
      if (!mine.isLearner) return
      await clients.first(urlsOf(record), (each) => each.promote(mine.id, signal), signal)
      log.info('This member votes', { name: record.name })
      return
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof ExpectedError) throw error
      // If it stays so, the others cannot reach the address, which a person can put right.
      const message = 'This member has no vote yet: the others must reach its address'
      const failure = { subject: 'Promotion', message, error }
      logFailure(log, failure)
    }
    await clock.sleep(backoff.nextMs(), signal)
  }
}

function removed({ name }: MemberRecord): ExpectedError {
  return new ExpectedError(
    `Cannot join: another master has removed ${name} meanwhile; start again with --join and a new token`,
    exitCodes.failure,
  )
}

async function take(
  step: Exclude<JoinStep, { does: 'start' }>,
  record: MemberRecord,
  deps: JoinDeps,
  signal: AbortSignal,
): Promise<MemberRecord> {
  const { clients, files, log } = deps
  const urls = urlsOf(record)
  if (step.does === 'refuse') {
    throw new ExpectedError(`Cannot join: ${step.why}`, exitCodes.usage)
  }
  if (step.does === 'remove') {
    const { member } = step
    if (step.mustBeSilent) await requireSilent(member, clients, signal)
    await clients.first(urls, (each) => each.removeMember(member.id, signal), signal)
    log.info('Member removed', { name: member.name, address: member.peerUrls.join() })
    return record
  }
  // Files of a member that the cluster no longer knows would keep etcd from starting.
  await rm(files.data, { recursive: true, force: true })
  const added = await clients.first(urls, (each) => each.addLearner(record.peerUrl, signal), signal)
  const next = { ...record, stage: 'joining', memberId: added.id } as const
  await writeMemberRecord(files.record, next)
  log.info('Member added', { name: record.name, address: record.peerUrl })
  return next
}

/** A member that lives is not replaced: its master would write on. */
async function requireSilent(
  { name, clientUrls: [url] }: EtcdMember,
  clients: MemberClients,
  signal: AbortSignal,
): Promise<void> {
  if (url === undefined || !(await clients.listensAt(url, signal))) return
  throw new ExpectedError(
    `Cannot replace ${name}: it answers at ${url}; stop its master first, or run "skerry site remove-member ${name}"`,
    exitCodes.usage,
  )
}

function membersOf(
  clients: MemberClients,
  record: MemberRecord,
  signal: AbortSignal,
): Promise<EtcdMember[]> {
  return clients.first(urlsOf(record), (each) => each.members(signal), signal)
}

/** Remembers the others, so that a start without token knows whom to ask. */
async function withOthers(
  record: MemberRecord,
  members: readonly EtcdMember[],
  { files }: JoinDeps,
): Promise<MemberRecord> {
  const others = members.flatMap(({ id, name, clientUrls: [clientUrl], isLearner }) =>
    id === record.memberId || clientUrl === undefined || isLearner ? [] : [{ name, clientUrl }],
  )
  if (others.length === 0) return record
  if (JSON.stringify(others) === JSON.stringify(record.others)) return record
  const next = { ...record, others }
  await writeMemberRecord(files.record, next)
  return next
}

function urlsOf({ others }: MemberRecord): string[] {
  return others.map(({ clientUrl }) => clientUrl)
}
