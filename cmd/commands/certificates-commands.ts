import type { Command } from 'commander'
import { dataDirectoryDefault } from '../../roles/runtime/data-directory.ts'
import { example, toJson } from '../flags/option-values.ts'

const listHelp = `
STATE follows this machine's clock now:
  good            valid, and not close to its end
  ends soon       nine tenths of its life are over without a renewal; for an authority: its last year
  expired         its end has passed, or the clock is ahead
  not yet valid   the clock was ahead when it was issued, or is behind now
  damaged         certificate and key do not match, or cannot be read
`

const renewHelp = `
A site or hub renews its certificates by itself, and notices within a minute that its clock was set. Use this command
for other cases: a damaged key, or certificates that were issued under a wrong clock and are valid for too long. Set
the clock first. Nothing is interrupted: a running site or hub uses the new certificates at once, a stopped one from
its next start. Authorities stay, and so does everybody's trust in them; the old certificates are valid until they
expire.

The command does not issue certificates of nodes and agents again, because their site or hub does. It names them, with
the remedy.
`

/** Adds the commands for certificates of this machine's roles. */
export function addCertificatesCommands(program: Command): void {
  const certificates = program
    .command('certificates')
    .description('List and renew the certificates of the roles on this machine')
  withRoles(certificates.command('list'))
    .description('List each certificate: its purpose, when it is valid, and its state now')
    .option('-o, --output <format>', 'output format: json', toJson)
    .addHelpText('after', listHelp)
    .addHelpText(
      'after',
      example(
        'sudo skerry certificates list',
        'sudo skerry certificates list --data-dir /var/lib/skerry/site -o json',
      ),
    )
    .action(async ({ dataDir, output }: { dataDir: string; output?: string }) => {
      const { printCertificates } = await import('../../roles/client/certificates.ts')
      await printCertificates(dataDir, output)
    })
  withRoles(certificates.command('renew'))
    .description('Issue the certificates of a site or hub again from its authority')
    .addHelpText('after', renewHelp)
    .addHelpText('after', example('sudo skerry certificates renew'))
    .action(async ({ dataDir }: { dataDir: string }) => {
      const { printRenewal } = await import('../../roles/client/certificates.ts')
      await printRenewal(dataDir)
    })
}

function withRoles(command: Command): Command {
  return command.option(
    '--data-dir <path>',
    'data directory of "skerry up", or of one site, hub, node or agent',
    dataDirectoryDefault,
  )
}
