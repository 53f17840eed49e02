import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ExpectedError, exitCodes } from '@skerry/base'
import { etcdPkiPaths } from '@skerry/bootstrap'
import { openDataDirectory } from '../../runtime/data-directory.ts'
import type { RoleContext } from '../../runtime/role-context.ts'
import { etcdFiles, type EmbeddedEtcdOptions, type EtcdFiles } from '../etcd/embedded-options.ts'
import { findEtcd } from '../etcd/etcd-program.ts'
import { memberArguments } from '../etcd/member-command.ts'
import { readMemberRecord, type MemberRecord } from '../etcd/member-record.ts'
import { ownMember } from '../etcd/own-member.ts'
import { placeOf, startEmbedded } from '../etcd/start-embedded.ts'
import { isWitness } from '../etcd/witness.ts'

export interface WitnessOptions {
  readonly dataDir: string
  readonly bindAddress: string
  /** The IPv4 address at which the masters reach it; if omitted, its first. */
  readonly advertiseAddress: string | undefined
  readonly etcd: EmbeddedEtcdOptions
}

/** A process that is to take the place of this one. */
export interface NextProcess {
  readonly path: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** Bytes of memory near which etcd collects its own; it needs half of that with a small site. */
const memoryLimit = '48MiB'

/**
 * Joins the etcd of a site as a member that only votes, and resolves with the etcd that this process is to become: on a
 * small box there is room for nothing else. Throws ExpectedError that says what to do.
 */
export async function prepareWitness(
  options: WitnessOptions,
  context: RoleContext,
): Promise<NextProcess> {
  const { dataDir, bindAddress, etcd } = options
  if (!isWitness(etcd.memberName)) {
    throw new ExpectedError(
      `Cannot start: --name ${etcd.memberName}: the name of a witness is witness, or begins with witness-`,
      exitCodes.usage,
    )
  }
  await openDataDirectory(dataDir)
  const files = etcdFiles(dataDir)
  const before = await readMemberRecord(files.record)
  if (before === undefined && etcd.joining === undefined) {
    throw new ExpectedError(
      `Cannot start: ${dataDir} has joined no site yet; run the line of "skerry token create --witness --print-join-command" of a master`,
      exitCodes.usage,
    )
  }
  if (!(await isPlaced(options, before, files))) await joinOnce(options, context)
  // The files stay taken by this process when it becomes etcd, and are free once that has ended.
  await ownMember(files, 'Cannot start etcd')
  const record = await readMemberRecord(files.record)
  if (record === undefined) throw new TypeError('Cannot become etcd: it has not joined')
  const program = await findEtcd(etcd.program, files.program, context.log, context.signal)
  const args = memberArguments({
    ...record,
    ...etcd,
    version: program.version,
    files,
    bindAddress,
    initialCluster: `${record.name}=${record.peerUrl}`,
    isJoining: true,
  })
  return { path: '/usr/bin/env', args: ['env', program.path, ...args], env: environment() }
}

/** True if nothing is left to do: each start of two members would be a gap in the witness's vote. */
async function isPlaced(
  options: WitnessOptions,
  record: MemberRecord | undefined,
  { data, pki }: EtcdFiles,
): Promise<boolean> {
  const { peerUrl, clientUrl } = placeOf(options.etcd, options)
  if (record?.stage !== 'member') return false
  if (record.peerUrl !== peerUrl || record.clientUrl !== clientUrl) return false
  const names = ['ca', 'server', 'peer'] as const
  const certificates = names.map((name) => etcdPkiPaths(pki, name).certificatePath)
  const there = [join(data, 'member'), ...certificates].map((path) =>
    stat(path).then(
      () => true,
      () => false,
    ),
  )
  return !(await Promise.all(there)).includes(false)
}

/** A later start tells the others where it is now, if its address has changed, and makes lost certificates again. */
async function joinOnce(options: WitnessOptions, context: RoleContext): Promise<void> {
  const { dataDir, bindAddress, advertiseAddress, etcd } = options
  const site = { dataDir, bindAddress, advertiseAddress, settings: {}, isWitness: true }
  await using _member = await startEmbedded(etcd, site, context)
  context.log.info('The witness votes; this process becomes etcd')
}

function environment(): Record<string, string> {
  const own = Object.entries(process.env).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  )
  return { ...Object.fromEntries(own), GOMEMLIMIT: memoryLimit, GOGC: '50' }
}
