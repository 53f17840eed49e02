import type { Command } from 'commander'
import { dataDirectoryDefault } from '../../roles/runtime/data-directory.ts'
import { example, toJson } from '../flags/option-values.ts'

const siteDataDirectory = `${dataDirectoryDefault}/site`

/** Adds the commands for the members of a site's own etcd, which a master's administrator runs on its machine. */
export function addMemberCommands(site: Command): void {
  // A role has options of the same names, which would take those behind the word of a command.
  site.enablePositionalOptions()
  addMembers(site)
  addRemoveMember(site)
  addRecover(site)
  addLeaveEtcd(site)
}

function addMembers(site: Command): void {
  site
    .command('members')
    .description('List the masters of a site with --etcd embedded, and the health of their etcd')
    .option('--data-dir <path>', "data directory of this machine's master", siteDataDirectory)
    .option('-o, --output <format>', 'output format: json', toJson)
    .addHelpText('after', example('skerry site members', 'skerry site members -o json'))
    .action(async (options: { dataDir: string; output: 'json' | undefined }) => {
      const { printMembers } = await import('../../roles/client/site/site-members.ts')
      await printMembers(options)
    })
}

function addRemoveMember(site: Command): void {
  site
    .command('remove-member <name>')
    .description('Remove a master from the etcd of a site, living or dead')
    .option('--data-dir <path>', "data directory of this machine's master", siteDataDirectory)
    .addHelpText('after', example('skerry site remove-member master-2'))
    .action(async (name: string, options: { dataDir: string }) => {
      const { printRemoval } = await import('../../roles/client/site/site-members.ts')
      await printRemoval({ ...options, name })
    })
}

function addRecover(site: Command): void {
  site
    .command('recover')
    .description('Go on with one master alone: with its own data, or with a snapshot')
    .option('--data-dir <path>', 'data directory of the master that goes on', siteDataDirectory)
    .option(
      '--snapshot <file>',
      "a snapshot of etcd, e.g. from etcd/backups (default: the master's own data)",
    )
    .option('--etcd-program <path>', 'an etcd of 3.5.13 or newer, next to its etcdutl')
    .option('--master-name <name>', 'its name, if the data directory has lost it')
    .option('--advertise-address <ip>', 'its IPv4 address, if the data directory has lost it')
    .option('--yes', 'do not ask for confirmation')
    .addHelpText(
      'after',
      example(
        'skerry site recover',
        'skerry site recover --snapshot /var/lib/skerry/site/etcd/backups/snapshot-2026-11-24T03-30-00Z.db',
      ),
    )
    .action(async (options: RecoverFlags) => {
      const { recoverSite } = await import('../../roles/client/site/site-recovery.ts')
      await recoverSite(options)
    })
}

function addLeaveEtcd(site: Command): void {
  site
    .command('leave-etcd')
    .description(
      'Move the state of the last master from its own etcd to a file; the site is stopped',
    )
    .option('--data-dir <path>', "data directory of this machine's master", siteDataDirectory)
    .option('--etcd-program <path>', 'an etcd of 3.5.13 or newer')
    .addHelpText('after', example('skerry site leave-etcd'))
    .action(async (options: { dataDir: string; etcdProgram: string | undefined }) => {
      const { printLeave } = await import('../../roles/client/site/site-recovery.ts')
      await printLeave(options)
    })
}

interface RecoverFlags {
  dataDir: string
  snapshot: string | undefined
  etcdProgram: string | undefined
  masterName: string | undefined
  advertiseAddress: string | undefined
  yes: boolean | undefined
}
