import { InvalidArgumentError, Option, type Command } from 'commander'
import { parseDurationMs } from '@skerry/api'
import { ExpectedError, exitCodes } from '@skerry/base'
import type { EmbeddedEtcdOptions, JoiningOptions } from '../../roles/site/etcd/embedded-options.ts'
import { isWitness } from '../../roles/site/etcd/witness.ts'
import { defaultNodeName } from '../../roles/runtime/host-addresses.ts'
import { readText } from '../../roles/runtime/read-config-file.ts'
import { toCount, toPort } from './option-values.ts'

/** The words for an etcd that a site runs itself. */
export interface EmbeddedEtcdFlags extends MemberFlags {
  etcd: 'embedded' | undefined
  etcdBackupEvery: number
  etcdBackupsKept: number
  masterName: string | undefined
}

/** The words for one member of it. */
export interface MemberFlags extends JoiningFlags {
  etcdProgram: string | undefined
  etcdHeartbeat: number
  etcdQuotaBytes: number
  etcdClientPort: number
  etcdPeerPort: number
}

interface JoiningFlags {
  join: string | undefined
  tokenFile: string | undefined
  caHash: string | undefined
  replaces: string | undefined
}

const gibibyte = 1024 ** 3
const hourMs = 3_600_000

export function withEmbeddedEtcdOptions(command: Command): Command {
  const own = command
    .option(
      '--etcd <kind>',
      'embedded: run an etcd as a child process, alone or with other masters',
      toKind,
    )
    .addOption(
      new Option('--etcd-backup-every <duration>', 'interval of snapshots on this disk')
        .argParser(toIntervalMs)
        .default(12 * hourMs, '12h'),
    )
    .option('--etcd-backups-kept <number>', 'snapshots that stay on this disk', toCount, 5)
    .option(
      '--master-name <name>',
      'name of this master among the members (default: the host name)',
      toName,
    )
  return withMemberOptions(own)
}

export function withMemberOptions(command: Command): Command {
  return command
    .option(
      '--etcd-program <path>',
      'etcd 3.5.13 or newer (default: the one in PATH; without one, Debian 13’s is installed in the data directory)',
    )
    .option(
      '--etcd-heartbeat <ms>',
      'milliseconds between heartbeats of etcd, about the round trip between the masters; an election takes ten of them',
      toHeartbeat,
      100,
    )
    .addOption(
      new Option('--etcd-quota-bytes <bytes>', 'size of etcd’s file at which it refuses writes')
        .argParser(toBytes)
        .default(2 * gibibyte, '2 GiB'),
    )
    .option('--etcd-client-port <number>', 'port of etcd for clients', toPort, 2379)
    .option('--etcd-peer-port <number>', 'port of etcd for the other masters', toPort, 2380)
    .option(
      '--join <url>',
      'join the site at this address as another member; only at the first start',
      toServer,
    )
    .option(
      '--token-file <path>',
      'file with the token of "skerry token create", or - for standard input; only to join',
    )
    .option('--ca-hash <hash>', 'sha256:<hex> of the site; only to join')
    .option('--replaces <name>', 'take the place of this dead master; only to join', toName)
}

/** Returns undefined if no etcd is to be run. Throws ExpectedError for words that do not fit together. */
export function embeddedEtcdOf(
  flags: EmbeddedEtcdFlags,
  etcdServers: readonly string[] = [],
): EmbeddedEtcdOptions | undefined {
  if (flags.etcd === undefined) {
    const lone = (['join', 'replaces', 'etcdProgram', 'masterName'] as const).find(
      (name) => flags[name] !== undefined,
    )
    if (lone === undefined) return undefined
    throw wrong(
      `--${lone.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)} belongs to --etcd embedded`,
    )
  }
  if (etcdServers.length > 0) throw wrong('--etcd embedded and --etcd-servers exclude each other')
  if (flags.replaces !== undefined && flags.join === undefined) {
    throw wrong('--replaces belongs to --join')
  }
  const memberName = flags.masterName ?? defaultNodeName()
  if (isWitness(memberName)) {
    throw wrong(`--master-name ${memberName}: a witness has such a name; give the master another`)
  }
  const backups = { everyMs: flags.etcdBackupEvery, keep: flags.etcdBackupsKept }
  return { ...memberOf(flags), memberName, backups }
}

/** Returns the options of a member that makes no snapshots. */
export function witnessEtcdOf(flags: MemberFlags & { name: string }): EmbeddedEtcdOptions {
  if (flags.replaces !== undefined && flags.join === undefined) {
    throw wrong('--replaces belongs to --join')
  }
  return { ...memberOf(flags), memberName: flags.name, backups: { everyMs: 12 * hourMs, keep: 0 } }
}

function memberOf(flags: MemberFlags): Omit<EmbeddedEtcdOptions, 'memberName' | 'backups'> {
  const joining = joiningOf(flags)
  if (flags.etcdClientPort === flags.etcdPeerPort) {
    throw wrong('--etcd-client-port and --etcd-peer-port are the same')
  }
  return {
    program: flags.etcdProgram,
    ports: { client: flags.etcdClientPort, peer: flags.etcdPeerPort },
    heartbeatMs: flags.etcdHeartbeat,
    quotaBytes: flags.etcdQuotaBytes,
    ...(joining ? { joining } : {}),
  }
}

function joiningOf({
  join,
  tokenFile,
  caHash,
  replaces,
}: JoiningFlags): JoiningOptions | undefined {
  if (join === undefined) return undefined
  return {
    server: join,
    caHash,
    replaces,
    async readToken() {
      if (tokenFile === undefined) throw wrong('--join needs --token-file, or - for standard input')
      if (tokenFile !== '-') return readText(tokenFile)
      const { readStandardInput } = await import('../../roles/runtime/standard-input.ts')
      return readStandardInput()
    },
  }
}

function wrong(text: string): ExpectedError {
  return new ExpectedError(`Cannot start: ${text}`, exitCodes.usage)
}

function toKind(text: string): 'embedded' {
  if (text === 'embedded') return text
  throw new InvalidArgumentError('embedded is the only one; --etcd-servers names an etcd elsewhere')
}

/** Parses etcd's interval; its own bounds are a tenth of the election's, which is 50 s at most. */
function toHeartbeat(text: string): number {
  const ms = Number(text)
  if (/^\d{1,4}$/.test(text) && ms >= 10 && ms <= 5_000) return ms
  throw new InvalidArgumentError('give milliseconds from 10 to 5000, e.g. 100')
}

function toBytes(text: string): number {
  const bytes = Number(text)
  if (/^\d{7,11}$/.test(text) && bytes >= 64 * 1024 ** 2 && bytes <= 8 * gibibyte) return bytes
  throw new InvalidArgumentError('give bytes from 67108864 (64 MiB) to 8589934592 (8 GiB)')
}

function toIntervalMs(text: string): number {
  const ms = parseDurationMs(text) ?? 0
  if (ms >= 60_000) return ms
  throw new InvalidArgumentError('a duration has its unit and is 1m or longer, e.g. 12h')
}

/** Parses a name; it stands in etcd's list of members, where = and , separate. */
function toName(text: string): string {
  if (/^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/.test(text)) return text
  throw new InvalidArgumentError('give lower-case letters, digits, dots and hyphens, e.g. master-2')
}

function toServer(text: string): string {
  if (URL.parse(text)?.protocol === 'https:') return text
  throw new InvalidArgumentError('give a URL like https://10.0.0.5:6443')
}
