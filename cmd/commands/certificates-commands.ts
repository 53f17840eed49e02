import type { Command } from 'commander'
import { exitCodes, systemClock } from '@skerry/base'
import type { ListedCertificate } from '../../roles/admin/certificate-list.ts'
import { dataDirectoryDefault } from '../../roles/runtime/data-directory.ts'
import type { RenewalReport } from '../../roles/up/renew-certificates.ts'
import { printTable } from '../output/print-table.ts'
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
      const { readRoleDirectories, clockFaultOf, latestKnownMs } =
        await import('../../roles/admin/certificate-list.ts')
      const nowMs = systemClock.now()
      const roles = await readRoleDirectories(dataDir, nowMs)
      const listed = roles.flatMap((role) => role.certificates)
      const fault = clockFaultOf(roles, nowMs)
      if (output === 'json') {
        const known = dateOf(latestKnownMs(roles))
        const clock = { now: dateOf(nowMs), known: known ?? null, fault: fault ?? null }
        console.log(JSON.stringify({ clock, certificates: listed.map(toObject) }, null, 2))
        return
      }
      printTable([['FOR', 'FILE', 'FROM', 'UNTIL', 'STATE'], ...listed.map(rowOf)])
      for (const { detail } of listed) if (detail !== '') console.error(detail)
      if (fault !== undefined) console.error(fault)
    })
  withRoles(certificates.command('renew'))
    .description('Issue the certificates of a site or hub again from its authority')
    .addHelpText('after', renewHelp)
    .addHelpText('after', example('sudo skerry certificates renew'))
    .action(async ({ dataDir }: { dataDir: string }) => {
      const { renewCertificates } = await import('../../roles/up/renew-certificates.ts')
      printReport(await renewCertificates(dataDir, { clock: systemClock }))
    })
}

function withRoles(command: Command): Command {
  return command.option(
    '--data-dir <path>',
    'data directory of "skerry up", or of one site, hub, node or agent',
    dataDirectoryDefault,
  )
}

function printReport({ renewed, failures, left }: RenewalReport): void {
  for (const { directory, isRunning, count } of renewed) {
    const use = isRunning
      ? 'it runs, and uses them now'
      : 'it is stopped, and uses them when it starts'
    console.log(`${directory}: ${count} certificates issued again; ${use}`)
  }
  if (left.length > 0) console.log('Not issued again:')
  for (const { listed, advice } of left) {
    const until = dateOf(listed.certificate?.notAfterMs)
    const state = listed.state === 'good' && until ? `good until ${until}` : listed.state
    console.log(`  ${listed.file}: ${state}; ${advice}`)
  }
  for (const failure of failures) console.error(failure)
  const isBad = left.some(({ listed: { state } }) => state !== 'good' && state !== 'ends soon')
  if (failures.length > 0 || isBad) process.exitCode = exitCodes.certificates
}

function rowOf(listed: ListedCertificate): string[] {
  const { certificate, file, state } = listed
  const [from, until] = [dateOf(certificate?.notBeforeMs), dateOf(certificate?.notAfterMs)]
  return [listed.for, file, from ?? '<unknown>', until ?? '<unknown>', state]
}

function toObject(listed: ListedCertificate) {
  const { certificate, file, state, detail } = listed
  const [from, until] = [dateOf(certificate?.notBeforeMs), dateOf(certificate?.notAfterMs)]
  return {
    for: listed.for,
    file,
    name: certificate?.commonName ?? null,
    from: from ?? null,
    until: until ?? null,
    state,
    ...(detail === '' ? {} : { detail }),
  }
}

/** Formats a time like Kubernetes: seconds in UTC. */
function dateOf(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')
}
