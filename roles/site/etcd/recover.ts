import { execFile } from 'node:child_process'
import { cp, mkdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ExpectedError, exitCodes, messageOf } from '@skerry/base'
import { ensureEtcdPki, readFileIfPresent } from '@skerry/bootstrap'
import { replicaKeyPath } from '../../control-plane/shared-keys.ts'
import { openDataDirectory } from '../../runtime/data-directory.ts'
import { defaultNodeName, hostAddresses } from '../../runtime/host-addresses.ts'
import { etcdFiles, type EtcdFiles } from './embedded-options.ts'
import { findEtcd, findEtcdutl, type EtcdProgram } from './etcd-program.ts'
import { runningMember } from './etcd-process.ts'
import { withLoneMember, type LoneDeps } from './lone-member.ts'
import { MemberClients } from './member-clients.ts'
import { readMemberRecord, writeMemberRecord, type MemberRecord } from './member-record.ts'

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
  await openDataDirectory(dataDir)
  await requireKeys(dataDir)
  const record = (await readMemberRecord(files.record)) ?? recordOf(options)
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
  return {
    files,
    record,
    program,
    snapshot,
    keptAt,
    warnings: warningsOf(record, snapshot, keptAt),
  }
}

function warningsOf(
  { name, others }: MemberRecord,
  snapshot: string | undefined,
  keptAt: string,
): string[] {
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
    `The data of before is kept in ${keptAt}.`,
  ]
}

/** Makes this master the only one. Returns lines that say what to do next. */
export async function recover(plan: RecoveryPlan, deps: LoneDeps): Promise<string[]> {
  const { files, record, snapshot, keptAt } = plan
  const ipAddresses = [...new Set(['127.0.0.1', hostOf(record.clientUrl), ...hostAddresses()])]
  const pki = { directory: files.pki, memberName: record.name, ipAddresses }
  await ensureEtcdPki(pki, deps.clock)
  const memberId = snapshot === undefined ? await goOnAlone(plan, deps) : await restore(plan, deps)
  const { memberId: _before, ...rest } = record
  const next = { ...rest, stage: 'member', others: [], ...(memberId ? { memberId } : {}) } as const
  await writeMemberRecord(files.record, next)
  return [
    `${record.name} is the only master now. Start its site as before, without --join.`,
    'Then join the others with an empty data directory each, and a token of "skerry token create --master".',
    `Remove ${keptAt} when everything is well.`,
  ]
}

async function goOnAlone(plan: RecoveryPlan, deps: LoneDeps): Promise<string> {
  const { files, record, program, keptAt } = plan
  await cp(files.data, keptAt, { recursive: true, errorOnExist: true })
  const lone = { files, record, program, isForced: true }
  return withLoneMember(lone, deps, async (memberId) => memberId)
}

async function restore(plan: RecoveryPlan, deps: LoneDeps): Promise<undefined> {
  const { files, record, program, snapshot = '', keptAt } = plan
  const etcdutl = await findEtcdutl(program, deps.signal)
  const fresh = join(files.root, 'data-restored')
  await rm(fresh, { recursive: true, force: true })
  await mkdir(files.root, { recursive: true, mode: 0o700 })
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
    deps.signal.throwIfAborted()
    throw refusal(
      `${snapshot} is not a whole snapshot of etcd: ${messageOf(cause)}`,
      'dataDirectory',
    )
  }
  if (await isThere(files.data)) await rename(files.data, keptAt)
  await rename(fresh, files.data)
}

/** Masters that live would go on next to this one, each with a state of its own. */
async function requireAlone(
  { others }: MemberRecord,
  files: EtcdFiles,
  { clock, signal }: LoneDeps,
): Promise<void> {
  using clients = await MemberClients.open(files.pki, clock)
  for (const { name, clientUrl } of others) {
    const answer = await clients.statusOf(clientUrl, signal)
    if (answer === undefined) continue
    const remedy =
      answer.leaderId === undefined
        ? `stop its site first`
        : 'and the others have a leader; join them again with "skerry site --join" and --replaces'
    throw refusal(`${name || clientUrl} answers at ${clientUrl}; ${remedy}`, 'alreadyRunning')
  }
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
