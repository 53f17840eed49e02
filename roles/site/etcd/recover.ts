import { execFile } from 'node:child_process'
import { cp, rename, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { diskFullError, ExpectedError, exitCodes, isDiskFull, messageOf } from '@skerry/base'
import { ensureEtcdPki, readFileIfPresent } from '@skerry/bootstrap'
import { saveSnapshotOf, type EtcdMemberStatus } from '@skerry/store'
import { replicaKeyPath } from '../../control-plane/shared-keys.ts'
import { openDataDirectory } from '../../runtime/data-directory.ts'
import { defaultNodeName, hostAddresses } from '../../runtime/host-addresses.ts'
import { etcdFiles, type EtcdFiles } from './embedded-options.ts'
import { findEtcd, findEtcdutl, type EtcdProgram } from './etcd-program.ts'
import { runningMember } from './etcd-process.ts'
import { withLoneMember, type LoneDeps } from './lone-member.ts'
import { MemberClients } from './member-clients.ts'
import { readMemberRecord, writeMemberRecord, type MemberRecord } from './member-record.ts'
import { ownMember, refuseOwned } from './own-member.ts'
import { siteBounds } from '../limits-table.ts'

const execute = promisify(execFile)

export interface RecoveryOptions {
  readonly dataDir: string
  /** If omitted, this master's own data. */
  readonly snapshot: string | undefined
  readonly etcdProgram: string | undefined
  readonly masterName: string | undefined
  readonly advertiseAddress: string | undefined
}

export interface RecoveryPlan {
  readonly files: EtcdFiles
  readonly record: MemberRecord
  readonly program: EtcdProgram
  readonly snapshot: string | undefined
  /** The directory that keeps the previous data; it may be empty. */
  readonly keptAt: string
  /** Lines for the person who confirms. */
  readonly warnings: readonly string[]
}

const doing = 'Cannot recover'
const defaultPorts = { client: 2379, peer: 2380 }
/** Revisions that clients have seen must never come again with other content. */
const revisionsAhead = 1_000_000_000

/** Checks everything that can be checked before. Throws ExpectedError. */
export async function planRecovery(
  options: RecoveryOptions,
  deps: LoneDeps,
): Promise<RecoveryPlan> {
  const { dataDir, snapshot } = options
  const files = etcdFiles(dataDir)
  const known = await readMemberRecord(files.record)
  if (known === undefined) await refuseFile(dataDir)
  await requireKeys(dataDir)
  // A person has put the keys into an empty directory.
  await openDataDirectory(dataDir, ['pki'])
  const record = known ?? recordOf(options)
  await refuseOwned(files, doing)
  const pid = await runningMember(files)
  if (pid !== undefined) {
    throw refusal(
      `the site runs here, with etcd as process ${pid}; stop it first`,
      'alreadyRunning',
    )
  }
  if (snapshot !== undefined) await requireFile(snapshot)
  else if (!(await isThere(join(files.data, 'member')))) {
    throw refusal(`there is no data in ${files.data}; pass --snapshot`, 'dataDirectory')
  }
  await requireAlone(record, files, deps)
  const program = await findEtcd(options.etcdProgram, files.program, deps.log, deps.signal)
  const stamp = new Date(deps.clock.now()).toISOString().replaceAll(/[:.]/g, '-')
  const keptAt = join(files.root, `data-before-${stamp}`)
  const isKept = await isThere(files.data)
  const warnings = [
    ...warningsOf(record, snapshot),
    ...(known
      ? []
      : ['This machine does not know the other masters: make sure yourself that none runs.']),
    ...(isKept ? [`The data of before is kept in ${keptAt}.`] : []),
  ]
  return { files, record, program, snapshot, keptAt, warnings }
}

function warningsOf({ name, others }: MemberRecord, snapshot: string | undefined): string[] {
  const names = others.map((each) => each.name || each.clientUrl).join(', ')
  const lost =
    snapshot === undefined
      ? 'Writes that other masters acknowledged and that had not reached this one are lost.'
      : `Everything that was written after ${snapshot} was made is lost, with certificates and tokens given out since. Pods that ran then and not now are started again, and newer ones are stopped.`
  return [
    `The site goes on with ${name} alone.`,
    lost,
    ...(names === ''
      ? []
      : [
          `The other masters (${names}) may never run on their old data again: empty their data directories, and join them again.`,
        ]),
  ]
}

/** Makes this master the only one. Returns lines that say what to do next. */
export async function recover(plan: RecoveryPlan, deps: LoneDeps): Promise<string[]> {
  const { files, record, keptAt } = plan
  await using _own = await ownMember(files, doing)
  const etcdutl = await findEtcdutl(plan.program, deps.signal)
  const ipAddresses = [...new Set(['127.0.0.1', hostOf(record.clientUrl), ...hostAddresses()])]
  const pki = { directory: files.pki, memberName: record.name, ipAddresses }
  await ensureEtcdPki(pki, deps.clock)
  if (plan.snapshot === undefined) await restoreOwn(plan, etcdutl, deps)
  else await restore(plan, { snapshot: plan.snapshot, etcdutl }, deps)
  const { memberId: _before, ...rest } = record
  await writeMemberRecord(files.record, { ...rest, stage: 'member', others: [] })
  return [
    `${record.name} is the only master now. Start its site as before, without --join.`,
    'Then join the others with an empty data directory each, and a token of "skerry token create --master".',
    ...((await isThere(keptAt)) ? [`Remove ${keptAt} when everything is well.`] : []),
  ]
}

/**
 * Goes on from this master's data, which may be behind what the others acknowledged: its revisions begin far above those
 * that clients have seen, too. A copy of the data becomes the only member, and is restored as any other snapshot.
 */
async function restoreOwn(plan: RecoveryPlan, etcdutl: string, deps: LoneDeps): Promise<void> {
  const { files, record, program } = plan
  const copy = join(files.root, 'data-copied')
  const snapshot = join(files.root, 'data-copied.db')
  const clean = async (): Promise<void> => {
    await rm(copy, { recursive: true, force: true })
    await rm(snapshot, { force: true })
  }
  await clean()
  try {
    await cp(files.data, copy, { recursive: true })
    const lone = { files: { ...files, data: copy }, record, program, isForced: true }
    await withLoneMember(lone, deps, (_id, etcd) => saveSnapshotOf(etcd, snapshot, deps))
    await rm(copy, { recursive: true })
    await restore(plan, { snapshot, etcdutl }, deps)
  } catch (error) {
    if (error instanceof ExpectedError || !isDiskFull(error)) throw error
    throw diskFullError(`copy ${files.data} to ${copy}`, error)
  } finally {
    await clean()
  }
}

interface RestoredFrom {
  readonly snapshot: string
  readonly etcdutl: string
}

async function restore(
  { files, record, keptAt }: RecoveryPlan,
  { snapshot, etcdutl }: RestoredFrom,
  deps: LoneDeps,
): Promise<void> {
  const fresh = join(files.root, 'data-restored')
  await rm(fresh, { recursive: true, force: true })
  const flags = {
    'data-dir': fresh,
    name: record.name,
    'initial-cluster': `${record.name}=${record.peerUrl}`,
    'initial-advertise-peer-urls': record.peerUrl,
    'bump-revision': String(revisionsAhead),
    'mark-compacted': 'true',
  }
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`)
  try {
    await execute(etcdutl, ['snapshot', 'restore', snapshot, ...args], { signal: deps.signal })
  } catch (cause) {
    const isFull = await hasNoRoom(files.root)
    await rm(fresh, { recursive: true, force: true })
    deps.signal.throwIfAborted()
    if (isFull) throw diskFullError(`restore ${snapshot} to ${fresh}`, cause)
    throw refusal(
      `${snapshot} is not a whole snapshot of etcd: ${messageOf(cause)}`,
      'dataDirectory',
    )
  }
  if (await isThere(files.data)) await rename(files.data, keptAt)
  await rename(fresh, files.data)
}

/** Reports whether a disk has no room for a file of etcd's log, which the program takes as a whole. */
async function hasNoRoom(directory: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(directory)
  return bavail * bsize < siteBounds.etcd.recovery.roomBytesMin
}

/** Masters that live would go on next to this one, each with a state of its own. */
async function requireAlone(
  { others }: MemberRecord,
  files: EtcdFiles,
  { clock, signal }: LoneDeps,
): Promise<void> {
  using clients = await MemberClients.open(files.pki, clock)
  for (const { name, clientUrl } of others) {
    if (!(await clients.listensAt(clientUrl, signal))) continue
    const answer = await clients.statusOf(clientUrl, signal)
    throw refusal(`${name || clientUrl} ${faultOf(answer, clientUrl)}`, 'alreadyRunning')
  }
}

function faultOf(answer: EtcdMemberStatus | undefined, url: string): string {
  if (answer === undefined) {
    return `listens at ${url}, and does not answer with the certificates of this machine; check the clocks of both, or stop its site first`
  }
  return answer.leaderId === undefined
    ? `answers at ${url}; stop its site first`
    : `answers at ${url}, and the others have a leader; join them again with "skerry site --join" and --replaces`
}

/** A site whose state is in a file has nothing that this command could recover. */
async function refuseFile(dataDir: string): Promise<void> {
  const path = join(dataDir, 'store.db')
  if (!(await isThere(dataDir))) {
    throw refusal(`there is no ${dataDir}; pass the --data-dir of a master`, 'usage')
  }
  if (!(await isThere(path))) return
  throw refusal(
    `the state of this site is in ${path}, and not in etcd; "skerry restore" puts a backup in its place`,
    'usage',
  )
}

async function requireKeys(dataDir: string): Promise<void> {
  const path = replicaKeyPath(dataDir)
  if ((await readFileIfPresent(path)) !== undefined) return
  throw refusal(
    `${path} is missing, without which the state opens no key; restore ${join(dataDir, 'pki')} from a backup of any master`,
    'dataDirectory',
  )
}

/** The directory has its keys, and nothing of its member. */
function recordOf({ masterName, advertiseAddress }: RecoveryOptions): MemberRecord {
  const [address] = advertiseAddress === undefined ? hostAddresses() : [advertiseAddress]
  if (address === undefined) {
    throw refusal('this machine has no IPv4 address; pass --advertise-address', 'usage')
  }
  return {
    name: masterName ?? defaultNodeName(),
    peerUrl: `https://${address}:${defaultPorts.peer}`,
    clientUrl: `https://${address}:${defaultPorts.client}`,
    prefix: '/skerry/site',
    stage: 'member',
    others: [],
  }
}

async function requireFile(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined)
  if (found?.isFile() === true) return
  throw refusal(`there is no file ${path}`, 'usage')
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

function hostOf(url: string): string {
  return new URL(url).hostname
}

function refusal(why: string, code: keyof typeof exitCodes): ExpectedError {
  return new ExpectedError(`${doing}: ${why}`, exitCodes[code])
}
