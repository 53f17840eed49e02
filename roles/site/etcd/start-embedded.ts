import {
  ExpectedError,
  exitCodes,
  linkedSignal,
  runAll,
  unlessAborted,
  type Task,
} from '@skerry/base'
import { ensureEtcdPki, etcdPkiPaths } from '@skerry/bootstrap'
import type { EtcdFlags } from '../../control-plane/etcd-options.ts'
import { hostAddresses } from '../../runtime/host-addresses.ts'
import { wrongUse } from '../../runtime/read-config-file.ts'
import type { RoleContext } from '../../runtime/role-context.ts'
import type { CommonSettings } from '../masters/master-directory.ts'
import { keepBackups } from './backups.ts'
import { etcdFiles, type EmbeddedEtcdOptions, type EtcdFiles } from './embedded-options.ts'
import { findEtcd } from './etcd-program.ts'
import { endForgotten, superviseEtcd, type EtcdProcess } from './etcd-process.ts'
import { fetchMasterKeys } from './fetch-keys.ts'
import { requireFreePorts } from './free-ports.ts'
import { becomeLearner, becomeVoter, type JoinDeps } from './join-members.ts'
import { MemberClients } from './member-clients.ts'
import { memberArguments, type MemberPlan } from './member-command.ts'
import { leadFromMaster } from './lead-from-master.ts'
import { nameToJoin } from './join-plan.ts'
import {
  hasMemberData,
  readMemberRecord,
  writeMemberRecord,
  type MemberRecord,
} from './member-record.ts'
import { moveFromSqlite } from './move-from-sqlite.ts'
import { ownMember } from './own-member.ts'
import { requireNoSqlite } from './require-no-sqlite.ts'
import { keepMembers } from './upkeep.ts'
import { localUrl, MemberWatch } from './watch-members.ts'
import { isWitness } from './witness.ts'

/** The site, as far as its etcd must know it. */
export interface EtcdSite {
  readonly dataDir: string
  /** If omitted, that of the others. */
  readonly prefix?: string | undefined
  /** True for a member without a site: it votes, and has only the keys that etcd needs. */
  readonly isWitness?: boolean
  readonly bindAddress: string
  readonly advertiseAddress: string | undefined
  readonly settings: CommonSettings
}

/** An etcd that runs with the site. It ends after everything that uses it. */
export interface EmbeddedEtcd extends AsyncDisposable {
  /** The options of a store in it. */
  readonly flags: EtcdFlags
  /** Returns the members' state in words if they have no quorum. */
  readonly fault: () => string | undefined
  /** Watches and cares for the members. */
  readonly tasks: readonly Task[]
}

/**
 * Starts this master's etcd, as the first member, as one that was there before, or as a further one, and resolves once
 * it follows a leader. Throws ExpectedError that says what to do.
 */
export async function startEmbedded(
  options: EmbeddedEtcdOptions,
  site: EtcdSite,
  context: RoleContext,
): Promise<EmbeddedEtcd> {
  const files = etcdFiles(site.dataDir)
  await using stack = new AsyncDisposableStack()
  stack.use(await ownMember(files, 'Cannot start etcd'))
  const member = stack.use(await startOrJoinAgain({ options, site, files }, context))
  const owned = stack.move()
  return { ...member, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** A member that another master has removed joins again if it was told to. */
async function startOrJoinAgain(given: Given, context: RoleContext): Promise<EmbeddedEtcd> {
  const { options, files } = given
  try {
    return await startMember(given, context)
  } catch (error) {
    context.signal.throwIfAborted()
    if (!(await wasRemoved(files, context))) throw error
    if (options.joining === undefined) throw removedEarlier(files, error)
  }
  context.log.info('This member was removed by another master, joining again')
  return startMember({ ...given, isRemoved: true }, context)
}

async function startMember(given: Given, context: RoleContext): Promise<EmbeddedEtcd> {
  const { options, site, files } = given
  const { clock, log, signal } = context
  const own = placeOf(options, site)
  const program = await findEtcd(options.program, files.program, log, signal)
  const begun = await openRecord(own, given, context)
  if (begun.stage === 'new') {
    const from = { dataDir: site.dataDir, prefix: begun.prefix }
    await moveFromSqlite(begun, { site: from, files, program }, context)
  }
  await ensureEtcdPki(pkiOptions(options, files, own), clock)
  await using stack = new AsyncDisposableStack()
  const clients = stack.use(await MemberClients.open(files.pki, clock))
  const deps: JoinDeps = { ...context, clients, files }
  const isJoining = begun.stage === 'joining'
  const { record, initialCluster } = isJoining
    ? await becomeLearner(begun, options.joining?.replaces, deps, signal)
    : { record: begun, initialCluster: `${begun.name}=${own.peerUrl}` }
  const plan: MemberPlan = {
    ...own,
    ...options,
    name: record.name,
    version: program.version,
    files,
    bindAddress: site.bindAddress,
    initialCluster,
    isJoining,
  }
  await endForgotten(files, context)
  await requireFreePorts(plan)
  const process = stack.use(await superviseEtcd(program, files, () => memberArguments(plan), deps))
  if (isJoining) await becomes(process, (scope) => becomeVoter(record, deps, scope), signal)
  const watch = new MemberWatch({ ...record, ...own }, deps)
  await becomes(process, (scope) => watch.untilQuorum(scope), signal)
  process.onServes()
  await moveAddress(watch, { own, clients }, signal)
  return running({ watch, process, clients, files, options }, context, stack.move())
}

/** Settles with the work, unless etcd ends meanwhile; the work ends with it. */
async function becomes(
  process: EtcdProcess,
  work: (scope: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  using scope = linkedSignal(signal)
  try {
    await Promise.race([work(scope.signal), process.failed])
  } finally {
    scope.abort(new Error('The start of etcd has ended'))
  }
}

/** The addresses of this machine's member. */
export interface OwnPlace {
  readonly address: string
  readonly peerUrl: string
  readonly clientUrl: string
}

/** Throws ExpectedError if no other machine could reach it. */
export function placeOf(
  { ports }: Pick<EmbeddedEtcdOptions, 'ports'>,
  site: Pick<EtcdSite, 'bindAddress' | 'advertiseAddress'>,
): OwnPlace {
  const { bindAddress, advertiseAddress } = site
  const [found] = bindAddress === '0.0.0.0' ? hostAddresses() : [bindAddress]
  const address = advertiseAddress ?? found
  if (address === undefined || address.includes(':') || address.startsWith('127.')) {
    throw wrongUse(
      'a member of etcd needs an IPv4 address at which the other masters may reach it; pass --advertise-address',
    )
  }
  const at = (port: number): string => `https://${address}:${port}`
  return { address, peerUrl: at(ports.peer), clientUrl: at(ports.client) }
}

function pkiOptions({ memberName }: EmbeddedEtcdOptions, { pki }: EtcdFiles, own: OwnPlace) {
  const ipAddresses = [...new Set(['127.0.0.1', own.address, ...hostAddresses()])]
  return { directory: pki, memberName, ipAddresses }
}

interface Given {
  readonly options: EmbeddedEtcdOptions
  readonly site: EtcdSite
  readonly files: EtcdFiles
  /** True if another master has removed the member that is on this machine. */
  readonly isRemoved?: boolean
}

/** Returns what this master remembers of its member, or begins a new one. */
async function openRecord(
  own: OwnPlace,
  { options, site, files, isRemoved = false }: Given,
  context: RoleContext,
): Promise<MemberRecord> {
  const { joining, memberName: name } = options
  const found = await readMemberRecord(files.record)
  const isWiped = found?.stage === 'member' && !(await hasMemberData(files))
  if (found && found.prefix !== (site.prefix ?? found.prefix)) {
    throw wrongUse(`--etcd-prefix ${site.prefix}: the state of this site is under ${found.prefix}`)
  }
  const isAgain = isRemoved || (isWiped && joining?.replaces === found.name)
  // etcd would begin an empty cluster of its own, next to the others.
  if (isWiped && !isAgain) throw wiped(found.name, files)
  if (found && !isAgain) {
    // The name in etcd stays, whatever the machine is called now.
    if (found.stage !== 'joining') return found
    const again = { ...found, name: nameToJoin(found, name), ...pathOf(own) }
    if (joining === undefined || found.others.length > 0) return again
  }
  if (joining) await requireNoSqlite(site.dataDir)
  const begun = { name, ...pathOf(own) }
  const record: MemberRecord = joining
    ? await joiningRecord(begun, { options, site, files }, context)
    : { ...begun, prefix: prefixOf(site), stage: 'new', others: [] }
  await writeMemberRecord(files.record, record)
  return record
}

/** Asks the others about this member, whose etcd has ended. If none answers, it was not removed as far as is known. */
async function wasRemoved(
  { record: path, pki }: EtcdFiles,
  context: RoleContext,
): Promise<boolean> {
  const record = await readMemberRecord(path)
  if (record?.stage !== 'member' || record.memberId === undefined) return false
  using clients = await MemberClients.open(pki, context.clock)
  const { signal } = context
  const urls = record.others.map(({ clientUrl }) => clientUrl)
  try {
    const members = await clients.first(urls, (each) => each.members(signal), signal)
    return !members.some(({ id }) => id === record.memberId)
  } catch {
    // Silence proves nothing; the caller reports why etcd has ended.
    signal.throwIfAborted()
    return false
  }
}

function removedEarlier({ root }: EtcdFiles, cause: unknown): ExpectedError {
  return new ExpectedError(
    `Cannot start etcd: another master has removed the member in ${root}; join again with --join and a new token`,
    exitCodes.dataDirectory,
    { cause },
  )
}

function prefixOf({ prefix }: EtcdSite): string {
  if (prefix === undefined) throw new TypeError('Cannot begin an etcd: it has no prefix')
  return prefix
}

function wiped(name: string, { data }: EtcdFiles): ExpectedError {
  const orElse = isWitness(name) ? '' : ', or run "skerry site recover" with a snapshot'
  return new ExpectedError(
    `Cannot start etcd: ${data} is gone; join the other masters again with --join --replaces ${name}${orElse}`,
    exitCodes.dataDirectory,
  )
}

function pathOf({ peerUrl, clientUrl }: OwnPlace): Pick<MemberRecord, 'peerUrl' | 'clientUrl'> {
  return { peerUrl, clientUrl }
}

async function joiningRecord(
  begun: Pick<MemberRecord, 'name' | 'peerUrl' | 'clientUrl'>,
  { options, site, files }: Given,
  context: RoleContext,
): Promise<MemberRecord> {
  const { joining } = options
  if (joining === undefined) throw new TypeError('Cannot join: no master is named')
  const { dataDir, settings, isWitness, prefix } = site
  const place = { dataDir, files, settings, isWitness }
  const keys = await fetchMasterKeys(joining, place, context)
  if (prefix !== undefined && keys.prefix !== prefix) {
    throw new ExpectedError(
      `Cannot join ${joining.server}: its --etcd-prefix is ${keys.prefix}, and ${prefix} was given; all masters need the same`,
      exitCodes.usage,
    )
  }
  return { ...begun, prefix: keys.prefix, stage: 'joining', others: keys.members }
}

/** Tells the others where this member is now, e.g. after the machine got another address. */
async function moveAddress(
  watch: MemberWatch,
  { own, clients }: { own: OwnPlace; clients: MemberClients },
  signal: AbortSignal,
): Promise<void> {
  const local = clients.at(localUrl(own.clientUrl))
  const { memberId } = await local.status(signal)
  const members = await local.members(signal)
  const mine = members.find(({ id }) => id === memberId)
  if (mine === undefined || mine.peerUrls.includes(own.peerUrl)) return
  await local.updateMember(mine.id, own.peerUrl, signal)
  await watch.look(signal)
}

interface Running {
  readonly watch: MemberWatch
  readonly process: EtcdProcess
  readonly clients: MemberClients
  readonly files: EtcdFiles
  readonly options: EmbeddedEtcdOptions
}

function running(
  { watch, process, clients, files, options }: Running,
  context: RoleContext,
  owned: AsyncDisposableStack,
): EmbeddedEtcd {
  const { certificatePath, keyPath } = etcdPkiPaths(files.pki, 'client')
  const { clientUrl, prefix } = watch.record
  const care = { ...context, watch, clients, files }
  return {
    flags: {
      etcdServers: [localUrl(clientUrl)],
      etcdCafile: etcdPkiPaths(files.pki, 'ca').certificatePath,
      etcdCertfile: certificatePath,
      etcdKeyfile: keyPath,
      etcdPrefix: prefix,
    },
    fault: () => (watch.state.hasQuorum ? undefined : watch.state.text),
    tasks: [
      (scope) =>
        runAll(scope, [
          (each) => unlessAborted(process.failed, each),
          (each) => watch.run(each),
          (each) => keepMembers(options.quotaBytes, care, each),
          (each) => leadFromMaster(care, each),
          (each) => keepBackups(options.backups, care, each),
        ]),
    ],
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
