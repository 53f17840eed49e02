import { InvalidArgumentError, Option, type Command } from 'commander'
import { parseDurationMs } from '@skerry/api'
import type { LogLevel } from '@skerry/base'
import type { EtcdRoleOptions } from '../../roles/etcd/serve-etcd.ts'
import { dataDirectoryDefault } from '../../roles/runtime/data-directory.ts'
import { runRole } from '../../roles/runtime/role-context.ts'
import { toUrls } from '../flags/control-plane-flags.ts'
import { collect, example, role, toLife } from '../flags/option-values.ts'

/** etcd's API on one small node. Options have etcd's own names where it has them. */
export function addEtcdCommand(program: Command): void {
  role(program.command('etcd'))
    .description('Serve etcd’s v3 API from one process: for clients of etcd on a small node')
    .option('--data-dir <path>', 'directory for its state', `${dataDirectoryDefault}/etcd`)
    .option('--name <name>', 'the name of the member', 'default')
    .addOption(
      new Option(
        '--listen-client-urls <urls>',
        'serve here: https://<ip>:<port>, unix:///<path>, or http:// on loopback; separated by commas',
      )
        .argParser(toUrls)
        .default(['http://127.0.0.1:2379'], 'http://127.0.0.1:2379'),
    )
    .option('--advertise-client-urls <urls>', 'URLs in the member list (default: the same)', toUrls)
    .option('--cert-file <path>', 'certificate of the server, PEM')
    .option('--key-file <path>', 'its key, PEM')
    .option(
      '--trusted-ca-file <path>',
      'authorities that must have issued clients’ certificates, PEM',
    )
    .option(
      '--client-cert-allowed-cn <name>',
      'only certificates with this common name are good (repeatable)',
      collect,
      [],
    )
    .option('--quota-backend-bytes <bytes>', 'size of the store (default: 2 GiB)', toCount)
    .option('--max-request-bytes <bytes>', 'size of one request (default: 1.5 MiB)', toCount)
    .option('--max-txn-ops <number>', 'operations of one transaction (default: 128)', toCount)
    .option('--auto-compaction-retention <time>', 'keep history this long, e.g. 1h', toLife)
    .option(
      '--watch-progress-notify-interval <time>',
      'interval at which quiet watches that ask for it get the revision (default: 10m)',
      toInterval,
    )
    .addHelpText('after', example('skerry etcd --data-dir /var/lib/skerry/etcd'))
    .action(async (flags: EtcdCommandFlags) => {
      const { runEtcd } = await import('../../roles/etcd/run-etcd.ts')
      await runRole('etcd', flags.logLevel, (context) => runEtcd(optionsOf(flags), context))
    })
}

function optionsOf(flags: EtcdCommandFlags): EtcdRoleOptions {
  const { dataDir, name, certFile, keyFile, trustedCaFile, clientCertAllowedCn } = flags
  const keep = flags.autoCompactionRetention
  const progressNotifyMs = flags.watchProgressNotifyInterval
  return {
    dataDir,
    name,
    listenUrls: flags.listenClientUrls,
    advertiseUrls: flags.advertiseClientUrls,
    certificates: { certFile, keyFile, trustedCaFile, allowedNames: clientCertAllowedCn },
    limits: {
      ...(flags.quotaBackendBytes ? { quotaBytes: flags.quotaBackendBytes } : {}),
      ...(flags.maxRequestBytes ? { requestBytesMax: flags.maxRequestBytes } : {}),
      ...(flags.maxTxnOps ? { txnOperationsMax: flags.maxTxnOps } : {}),
      ...(progressNotifyMs ? { progressNotifyMs } : {}),
    },
    keepMs: keep === undefined ? undefined : parseDurationMs(keep),
  }
}

/** etcd allows intervals down to 100 ms. */
function toInterval(text: string): number {
  const ms = parseDurationMs(text) ?? 0
  if (ms >= 100 && ms < 2 ** 31) return ms
  throw new InvalidArgumentError('a duration has its unit and is 100ms or longer, e.g. 5s')
}

function toCount(text: string): number {
  const count = Number(text)
  if (Number.isSafeInteger(count) && count > 0) return count
  throw new InvalidArgumentError('give a whole number above 0')
}

interface CertificateFlags {
  certFile: string | undefined
  keyFile: string | undefined
  trustedCaFile: string | undefined
  clientCertAllowedCn: string[]
}

interface EtcdCommandFlags extends CertificateFlags {
  dataDir: string
  name: string
  listenClientUrls: string[]
  advertiseClientUrls: string[] | undefined
  quotaBackendBytes: number | undefined
  maxRequestBytes: number | undefined
  maxTxnOps: number | undefined
  autoCompactionRetention: string | undefined
  watchProgressNotifyInterval: number | undefined
  logLevel: LogLevel
}
