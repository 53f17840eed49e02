import type { Command } from 'commander'
import type { LogLevel } from '@skerry/base'
import { dataDirectoryDefault } from '../../roles/runtime/data-directory.ts'
import { runRole } from '../../roles/runtime/role-context.ts'
import { witnessEtcdOf, withMemberOptions, type MemberFlags } from '../flags/embedded-etcd-flags.ts'
import { example, role } from '../flags/option-values.ts'

/** A member of a site's etcd that only votes: two masters and a witness survive the loss of any one. */
export function addWitnessCommand(program: Command): void {
  withMemberOptions(role(program.command('witness')))
    .description(
      'Vote for the masters of a site on a small third machine: runs etcd and nothing else',
    )
    .option('--data-dir <path>', 'directory for its state', `${dataDirectoryDefault}/witness`)
    .option('--name <name>', 'its name among the members; it begins with witness', 'witness')
    .option('--bind-address <ip>', 'listen on this address', '0.0.0.0')
    .option(
      '--advertise-address <ip>',
      'IPv4 address at which the masters reach it (default: its first address)',
    )
    .addHelpText(
      'after',
      example(
        'skerry witness --join https://10.0.0.5:6443 --token-file token --ca-hash sha256:…',
        'skerry witness',
      ),
    )
    .action(async (flags: WitnessFlags) => {
      const { prepareWitness } = await import('../../roles/site/witness/prepare-witness.ts')
      const { dataDir, bindAddress, advertiseAddress } = flags
      const options = { dataDir, bindAddress, advertiseAddress, etcd: witnessEtcdOf(flags) }
      let next: Awaited<ReturnType<typeof prepareWitness>> | undefined
      await runRole('witness', flags.logLevel, async (context) => {
        next = await prepareWitness(options, context)
      })
      if (next) process.execve?.(next.path, next.args, next.env)
    })
}

interface WitnessFlags extends MemberFlags {
  name: string
  dataDir: string
  bindAddress: string
  advertiseAddress: string | undefined
  logLevel: LogLevel
}
