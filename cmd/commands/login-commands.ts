import type { Command } from 'commander'
import { withHubFlags } from '../../roles/admin/chosen-hub.ts'
import type { ConsoleOptions } from '../../roles/client/console.ts'
import type { CertificateFlags } from '../../roles/client/login/print-credential.ts'
import type { LoginFlags } from '../../roles/client/login/print-login.ts'
import { collect, example, toJson, toPort } from '../flags/option-values.ts'
import { commandBounds } from '../limits-table.ts'

/** Adds the commands to log in at the issuer of a hub's users, and the one that gives clients its tokens. */
export function addLoginCommands(program: Command): void {
  addLogin(program)
  addLogout(program)
  const credential = program
    .command('credential')
    .description(
      'Print credentials for kubectl, which runs this command; "skerry login" writes it into a kubeconfig',
    )
  addOidc(credential)
  addCertificate(credential)
}

function addLogin(program: Command): void {
  program
    .command('login <hub>')
    .description('Log in to a hub with your browser, and write contexts for it and its clusters')
    .option(
      '--ca-file <path>',
      "certificate of the hub's authority, PEM (default: the system's authorities)",
    )
    .option('--device', 'log in with a code that you enter on another device')
    .option('--open', 'open the browser (default: only print the address)')
    .option('--port <number>', 'port to which the browser returns (default: a free one)', toPort)
    .option('--issuer <url>', 'OpenID Connect issuer (default: the one that the hub names)')
    .option(
      '--client-id <id>',
      'public client at that issuer (default: the one that the hub names)',
    )
    .option('--issuer-ca-file <path>', "the issuer's authority (default: as the hub names it)")
    .option('--scope <scope>', 'request this scope as well (repeatable)', collect, [])
    .option('--output-file <path>', "kubeconfig to merge into (default: kubectl's)")
    .option('--host-names', 'address clusters by their host names instead of by path')
    .option('--prefix <text>', 'prefix of each name, if other contexts have the same names', '')
    .option('-o, --output <format>', 'output format: json', toJson)
    .addHelpText(
      'after',
      example(
        'skerry login https://hub.example.com:7443 --ca-file ca.crt --open',
        'skerry login https://hub.example.com:7443 --ca-file ca.crt --device',
      ),
    )
    .action(async (hub: string, flags: Omit<LoginFlags, 'hub'>) => {
      const { printLogin } = await import('../../roles/client/login/print-login.ts')
      await printLogin({ ...flags, hub }, timeLimit())
    })
}

function addLogout(program: Command): void {
  program
    .command('logout <hub>')
    .description('End the login for a hub, here and at its issuer; contexts stay')
    .option('-o, --output <format>', 'output format: json', toJson)
    .addHelpText('after', example('skerry logout https://hub.example.com:7443'))
    .action(async (hub: string, { output }: { output: string | undefined }) => {
      const { printLogout } = await import('../../roles/client/login/print-login.ts')
      await printLogout(hub, output, timeLimit())
    })
}

function addOidc(credential: Command): void {
  credential
    .command('oidc')
    .description('Print an ExecCredential with the token of a login, refreshed if it has expired')
    .requiredOption('--issuer <url>', 'issuer of the login')
    .requiredOption('--client-id <id>', 'client of the login')
    .addHelpText(
      'after',
      example('skerry credential oidc --issuer https://id.example.com --client-id skerry'),
    )
    .action(async (flags: { issuer: string; clientId: string }) => {
      const { printOidcCredential } = await import('../../roles/client/login/print-credential.ts')
      await printOidcCredential(flags, timeLimit())
    })
}

function addCertificate(credential: Command): void {
  credential
    .command('certificate')
    .description('Print an ExecCredential with a certificate, renewed at the hub when it is due')
    .requiredOption('--hub <url>', 'hub that issued the certificate')
    .requiredOption('--certificate <path>', 'the certificate, PEM; the renewed one replaces it')
    .requiredOption('--key <path>', 'its key, PEM; stays the same')
    .option(
      '--ca-file <path>',
      "certificate of the hub's authority, PEM (default: the system's authorities)",
    )
    .addHelpText(
      'after',
      example(
        'skerry credential certificate --hub https://hub:7443 --ca-file ca.crt --certificate olga.crt --key olga.key',
      ),
    )
    .action(async (flags: CertificateFlags) => {
      const { printCertificateCredential } =
        await import('../../roles/client/login/print-credential.ts')
      await printCertificateCredential(flags, timeLimit())
    })
}

function timeLimit(): AbortSignal {
  return AbortSignal.timeout(commandBounds.loginCommands.personMsMax)
}

/** Adds the command that leads a person into the web console. */
export function addConsoleCommand(program: Command): void {
  withHubFlags(program.command('console'))
    .description("Print a link to the hub's web console that logs you in once, within ten minutes")
    .option('-o, --output <format>', 'output format: json', toJson)
    .addHelpText(
      'after',
      example('sudo skerry console', 'skerry console --kubeconfig hub.kubeconfig -o json'),
    )
    .action(async (options: ConsoleOptions) => {
      const { printConsoleLink } = await import('../../roles/client/console.ts')
      await printConsoleLink(options)
    })
}
