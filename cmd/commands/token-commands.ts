import type { Command } from 'commander'
import { join } from 'node:path'
import { systemClock } from '@skerry/base'
import { dataDirectoryDefault } from '../../roles/runtime/data-directory.ts'
import { example, toJson, toLife } from '../flags/option-values.ts'
import { askMs } from '../limits-table.ts'

interface TokenFlags {
  dataDir: string
  server: string | undefined
  ttl: string
  printJoinCommand: boolean | undefined
  output: string | undefined
}

/** Adds the commands for bootstrap tokens of a site. */
export function addTokenCommands(program: Command): void {
  const token = program
    .command('token')
    .description('Make and print bootstrap tokens, with which machines join a site')
  token
    .command('create')
    .description('Make a token with which one or more nodes may join until it expires')
    .option(
      '--data-dir <path>',
      'data directory of the site that they join',
      `${dataDirectoryDefault}/site`,
    )
    .option('--server <url>', 'address that the new node dials (default: that of cluster-info)')
    .option('--ttl <duration>', 'its validity, e.g. 30m, 24h', toLife, '24h')
    .option('--print-join-command', 'print the whole command for the new machine')
    .option('-o, --output <format>', 'json', toJson)
    .addHelpText('after', example('skerry token create --print-join-command'))
    .action(async (options: TokenFlags) => {
      const { createJoinToken, parseDurationMs } = await import('../../roles/admin/join-token.ts')
      const { openAdminCluster } = await import('../../roles/admin/admin-cluster.ts')
      const { advertisedServer } = await import('../../roles/site/objects/site-objects.ts')
      const admin = await openAdminCluster(join(options.dataDir, 'admin.kubeconfig'))
      const signal = AbortSignal.timeout(askMs)
      const created = await createJoinToken(
        admin.cluster,
        {
          server: options.server ?? (await advertisedServer(admin.cluster, signal)),
          caPem: admin.caPem,
          ttlSeconds: (parseDurationMs(options.ttl) ?? 0) / 1_000,
          description: 'made by skerry token create',
        },
        { clock: systemClock },
        signal,
      )
      if (options.output === 'json') console.log(JSON.stringify(created))
      else if (options.printJoinCommand === true) {
        console.log(
          `(umask 077 && echo ${created.token} > token) && skerry node --server ${created.server} --token-file token --ca-hash ${created.caHash}`,
        )
      } else console.log(created.token)
    })
}
