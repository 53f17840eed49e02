import { ExpectedError, exitCodes, type Clock } from '@skerry/base'
import type { ClusterState, SeenMember } from './cluster-state.ts'
import { etcdFiles, type EtcdFiles } from './embedded-options.ts'
import { MemberClients } from './member-clients.ts'
import { readMemberRecord, type MemberRecord } from './member-record.ts'
import { localUrl } from './watch-members.ts'

/** The members as an administrator's command on a master's machine reaches them, whether the site serves or not. */
export interface KnownMembers extends Disposable {
  readonly clients: MemberClients
  readonly files: EtcdFiles
  readonly record: MemberRecord
  /** This master's member on the loopback first, then the others. */
  readonly urls: readonly string[]
}

/** Throws ExpectedError if the directory is not that of a master with an etcd of its own. */
export async function openKnownMembers(
  dataDir: string,
  doing: string,
  clock: Clock,
): Promise<KnownMembers> {
  const files = etcdFiles(dataDir)
  const record = await readMemberRecord(files.record)
  if (record === undefined) {
    throw new ExpectedError(
      `${doing}: ${dataDir} is not that of a master with "skerry site --etcd embedded"; run this on a master's machine, or pass its --data-dir`,
      exitCodes.usage,
    )
  }
  const clients = await MemberClients.open(files.pki, clock)
  const urls = [localUrl(record.clientUrl), ...record.others.map(({ clientUrl }) => clientUrl)]
  return { clients, files, record, urls, [Symbol.dispose]: () => clients[Symbol.dispose]() }
}

/** Asks all members how they are. Throws ExpectedError if none answers. */
export async function lookAtMembers(
  { clients, urls }: KnownMembers,
  doing: string,
  signal: AbortSignal,
): Promise<ClusterState> {
  try {
    const members = await clients.first(urls, (each) => each.members(signal, false), signal)
    return await clients.look(members, signal)
  } catch (cause) {
    if (cause instanceof ExpectedError) throw cause
    throw new ExpectedError(
      `${doing}: none of ${urls.join(', ')} answers; start the site on this machine, or run this on another master; etcd answers once most of its members hear each other, and if they are gone for good, "skerry site recover" goes on without them`,
      exitCodes.unreachable,
      { cause },
    )
  }
}

/** Finds a member by its name or its address. Throws ExpectedError that lists the names. */
export function memberNamed(state: ClusterState, name: string, doing: string): SeenMember {
  const found = state.members.filter((each) => each.name === name || each.address === name)
  const [only, another] = found
  if (only && another === undefined) return only
  const names = state.members.map((each) => each.name || each.address).join(', ')
  throw new ExpectedError(
    `${doing}: ${another ? 'several members are' : 'no member is'} named ${name}; there are ${names}`,
    exitCodes.usage,
  )
}
