import type { Command } from 'commander'
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

interface LoginCommandFlags {
  caFile: string | undefined
  issuer: string | undefined
  clientId: string | undefined
  issuerCaFile: string | undefined
  scope: string[]
  device: boolean | undefined
  open: boolean | undefined
  port: number | undefined
  outputFile: string | undefined
  hostNames: boolean | undefined
  prefix: string
  output: string | undefined
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
    .action(async (hub: string, { device, open, ...flags }: LoginCommandFlags) => {
      const { kubeconfigDefault, logIn } = await import('../client/login.ts')
      const { openInBrowser } = await import('../client/open-in-browser.ts')
      const outputFile = flags.outputFile ?? kubeconfigDefault(process.env)
      const deps = { ...(await loginDeps()), ...(open === true ? { open: openInBrowser } : {}) }
      const { port = 0 } = flags
      const options = { ...flags, port, hub, outputFile, isDevice: device === true }
      const done = await logIn(options, deps, timeLimit())
      if (flags.output === 'json') return console.log(JSON.stringify(done))
      console.log(`Logged in. ${done.file} has the contexts ${done.contexts.join(', ')}.`)
    })
}

function addLogout(program: Command): void {
  program
    .command('logout <hub>')
    .description('End the login for a hub, here and at its issuer; contexts stay')
    .option('-o, --output <format>', 'output format: json', toJson)
    .addHelpText('after', example('skerry logout https://hub.example.com:7443'))
    .action(async (hub: string, { output }: { output: string | undefined }) => {
      const { logOut } = await import('../client/login.ts')
      const ended = await logOut(hub, (await loginDeps()).directory, timeLimit())
      if (output === 'json') return console.log(JSON.stringify(ended))
      for (const { issuer, hubs, notRevoked } of ended) {
        console.log(`Logged out at ${issuer}, for ${hubs.join(', ')}.`)
        if (notRevoked !== undefined) console.error(`skerry: ${notRevoked}`)
      }
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
    .action(async ({ issuer, clientId }: { issuer: string; clientId: string }) => {
      const { currentTokens, execCredentialOf, readExecInfo } =
        await import('../client/credential.ts')
      const { systemClock, systemRandom } = await import('@skerry/base')
      const { apiVersion, isInteractive } = readExecInfo(process.env['KUBERNETES_EXEC_INFO'])
      const { directory, tell } = await loginDeps()
      const options = { issuerUrl: issuer, clientId, directory, isInteractive }
      const deps = { clock: systemClock, random: systemRandom, tell }
      console.log(execCredentialOf(await currentTokens(options, deps, timeLimit()), apiVersion))
    })
}

interface CertificateFlags {
  hub: string
  caFile: string | undefined
  certificate: string
  key: string
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
    .action(async ({ hub, caFile, certificate, key }: CertificateFlags) => {
      const { certificateCredentialOf, currentCertificate } =
        await import('../client/user-certificate.ts')
      const { readExecInfo } = await import('../client/credential.ts')
      const { systemClock, systemRandom } = await import('@skerry/base')
      const { apiVersion } = readExecInfo(process.env['KUBERNETES_EXEC_INFO'])
      const { tell } = await loginDeps()
      const options = { hub, caFile, certificateFile: certificate, keyFile: key }
      const deps = { clock: systemClock, random: systemRandom, tell }
      const found = await currentCertificate(options, deps, timeLimit())
      console.log(certificateCredentialOf(found, apiVersion))
    })
}

/** Returns the dependencies for the person at this machine. */
export async function loginDeps() {
  const { homedir } = await import('node:os')
  const { loginDirectory } = await import('../client/login-session.ts')
  const { programCommand } = await import('../../roles/runtime/program-command.ts')
  return {
    directory: loginDirectory(process.env, homedir()),
    command: programCommand([]),
    // Standard output is for the requested result.
    tell: (text: string): void => console.error(text),
  }
}

function timeLimit(): AbortSignal {
  return AbortSignal.timeout(commandBounds.loginCommands.personMsMax)
}
