import type { Command } from 'commander'
import { join } from 'node:path'
import type { LogLevel } from '@skerry/base'
import { dataDirectoryDefault } from '../../roles/runtime/data-directory.ts'
import { defaultNodeName } from '../../roles/runtime/host-addresses.ts'
import { example, toJson, toLogLevel, toPort } from '../flags/option-values.ts'
import { commandBounds } from '../limits-table.ts'

const runDirectoryDefault = '/run/skerry'

/** Adds the commands for everything on one machine: up, and those that manage it. */
export function addUpCommands(program: Command): void {
  addUp(program)
  addDown(program)
  addStatus(program)
  addReset(program)
  addKubeconfig(program)
  addImage(program)
  addBackup(program)
}

interface UpFlags {
  dataDir: string
  runDir: string
  clusterName: string
  hubPort: number
  sitePort: number
  kubeletPort: number
  nodeName: string
  clusterCidr: string
  serviceCidr: string
  detach: boolean | undefined
  install: boolean
  logLevel: LogLevel
}

function addUp(program: Command): void {
  withDataDir(program.command('up'))
    .description('Run a hub, a site with a node, and the tunnel between them on this machine')
    .option(
      '--run-dir <path>',
      'directory for sockets and other files that must not survive a reboot',
      runDirectoryDefault,
    )
    .option('--cluster-name <name>', 'name of the site on the hub', 'edge')
    .option('--node-name <name>', 'name of the node', defaultNodeName())
    .option('--hub-port <number>', 'port of the hub', toPort, 7443)
    .option('--site-port <number>', "port of the site's API", toPort, 6443)
    .option('--kubelet-port <number>', 'port for logs and exec', toPort, 10_250)
    .option('--cluster-cidr <range>', 'addresses of pods', '10.42.0.0/16')
    .option('--service-cidr <range>', 'addresses of services', '10.43.0.0/16')
    .option('-d, --detach', 'leave it running and return when it is ready')
    .option('--no-install', 'report missing system packages instead of installing them')
    .option('--log-level <level>', 'error, info or debug', toLogLevel, 'info')
    .addHelpText(
      'after',
      example('sudo ./skerry up', 'sudo ./skerry up --detach --cluster-name branch-7'),
    )
    .action(async (options: UpFlags) => {
      const { runUp } = await import('../../roles/up/up.ts')
      const { stopSignal } = await import('../../roles/runtime/role-context.ts')
      await runUp(
        { ...options, isDetached: options.detach === true, skipsInstall: !options.install },
        stopSignal({
          onStop: () => console.log('\nStopping. Pods go on; "skerry down --pods" ends them, too.'),
        }),
      )
    })
}

function addDown(program: Command): void {
  withDataDir(program.command('down'))
    .description('Stop hub, site and node; pods keep running')
    .option('--pods', 'end the pods, too')
    .addHelpText('after', example('sudo skerry down', 'sudo skerry down --pods'))
    .action(async (options: { dataDir: string; pods?: boolean }) => {
      const { runDown } = await import('../../roles/up/down.ts')
      const didRun = await runDown(
        { dataDir: options.dataDir, stopsPods: options.pods === true },
        timeLimit(),
      )
      console.log(didRun ? 'Stopped.' : 'Nothing was running.')
    })
}

function addStatus(program: Command): void {
  withDataDir(program.command('status'))
    .description(
      'Show the state of everything that runs: versions, cluster, node and tunnel, each with its age',
    )
    .addHelpText('after', example('skerry status', 'skerry status -o json'))
    .option('-o, --output <format>', 'output format: json', toJson)
    .action(async (options: { dataDir: string; output?: string }) => {
      const { formatStatus, readStatus } = await import('../../roles/up/status.ts')
      const report = await readStatus(options.dataDir)
      console.log(
        options.output === 'json'
          ? JSON.stringify(report, null, 2)
          : formatStatus(report, Date.now()),
      )
    })
}

function addReset(program: Command): void {
  withDataDir(program.command('reset'))
    .description('Remove everything that "skerry up" made: pods, mounts, network rules, state')
    .option('--yes', 'confirm the removal')
    .addHelpText('after', example('sudo skerry reset --yes'))
    .action(async (options: { dataDir: string; yes?: boolean }) => {
      const { runReset } = await import('../../roles/up/reset.ts')
      await runReset({ dataDir: options.dataDir, isConfirmed: options.yes === true }, timeLimit())
      console.log('Nothing is left.')
    })
}

interface KubeconfigFlags {
  dataDir: string
  hub: string | undefined
  siteDir: string | undefined
  caFile: string | undefined
  tokenFile: string | undefined
  clientCertificate: string | undefined
  clientKey: string | undefined
  renew: boolean | undefined
  outputFile: string | undefined
  hostNames: boolean | undefined
  prefix: string
}

function addKubeconfig(program: Command): void {
  withDataDir(program.command('kubeconfig'))
    .description('Print a kubeconfig with a context for the hub and for each cluster')
    .option(
      '--hub <url>',
      'show the clusters that you may reach at this hub (default: the hub that "skerry up" runs here)',
    )
    .option(
      '--ca-file <path>',
      "certificate of the hub's authority, PEM (default: the system's authorities)",
    )
    .option(
      '--site-dir <path>',
      'show the masters of the site with this data directory, one context for each',
    )
    .option('--token-file <path>', 'file with your token')
    .option('--client-certificate <path>', 'your certificate, PEM')
    .option('--client-key <path>', 'its key, PEM')
    .option(
      '--renew',
      'renew the certificate when it is due (skerry hub --renew-user-certificates)',
    )
    .option('--output-file <path>', 'merge into this kubeconfig instead of printing one')
    .option('--host-names', 'address clusters by their host names instead of by path')
    .option('--prefix <text>', 'prefix of each name, if other contexts have the same names', '')
    .addHelpText(
      'after',
      example(
        'skerry kubeconfig > ~/.kube/skerry',
        'skerry kubeconfig --site-dir /var/lib/skerry/site',
        'skerry kubeconfig --hub https://hub:7443 --ca-file ca.crt --token-file token --output-file ~/.kube/config',
      ),
    )
    .action(async ({ hub, siteDir, ...options }: KubeconfigFlags) => {
      if (siteDir !== undefined) return printSiteKubeconfig({ siteDir, hub, ...options })
      if (hub === undefined) return printOwnKubeconfig(options)
      const { printHubKubeconfig, writeHubKubeconfig } = await import('../client/hub-kubeconfig.ts')
      const { loginForHub } = await import('../client/login.ts')
      const { loginDeps } = await import('./login-commands.ts')
      const { outputFile, renew } = options
      const deps = await loginDeps()
      const login = await loginForHub(hub, deps)
      const asked = { ...options, hub, login, ...(renew === true ? { renewBy: deps.command } : {}) }
      if (outputFile === undefined) await printHubKubeconfig(asked, timeLimit())
      else await writeHubKubeconfig({ ...asked, outputFile }, timeLimit())
    })
}

async function printSiteKubeconfig({
  siteDir,
  dataDir: _dataDir,
  ...forHub
}: KubeconfigFlags & { siteDir: string }): Promise<void> {
  if (Object.values(forHub).some((value) => value !== undefined && value !== '')) {
    const { ExpectedError, exitCodes } = await import('@skerry/base')
    const message = 'Cannot write kubeconfig: --site-dir goes with no other option'
    throw new ExpectedError(message, exitCodes.usage)
  }
  const { siteKubeconfig } = await import('../client/site-kubeconfig.ts')
  process.stdout.write(await siteKubeconfig(siteDir, timeLimit()))
}

/** Prints the kubeconfig of this machine's installation, for its administrator. */
async function printOwnKubeconfig({
  dataDir,
  ...forHub
}: Omit<KubeconfigFlags, 'hub' | 'siteDir'>): Promise<void> {
  if (Object.values(forHub).some((value) => value !== undefined && value !== '')) {
    const { ExpectedError, exitCodes } = await import('@skerry/base')
    const message = 'Cannot write kubeconfig: all options but --data-dir need --hub, the hub to ask'
    throw new ExpectedError(message, exitCodes.usage)
  }
  const { findInstallation } = await import('../../roles/up/find-installation.ts')
  const { contextsOf, hubIdentity } = await import('../../roles/up/user-kubeconfig.ts')
  const { clientKubeconfig } = await import('../../roles/runtime/kubeconfig-file.ts')
  const { formatKubeconfig } = await import('@skerry/client')
  const { installation, settings } = await findInstallation(dataDir)
  process.stdout.write(
    formatKubeconfig(clientKubeconfig(contextsOf(settings), await hubIdentity(installation))),
  )
}

interface ImageFlags {
  nodeDir: string
  runDir: string
  output?: string
}

function addImage(program: Command): void {
  const image = program
    .command('image')
    .description('Manage images on this node, without a registry')
  const withNode = (command: Command): Command =>
    command
      .option('--node-dir <path>', "the node's data directory", join(dataDirectoryDefault, 'node'))
      .option('--run-dir <path>', "the node's run directory", join(runDirectoryDefault, 'node'))
      .option('-o, --output <format>', 'output format: json', toJson)
  withNode(image.command('import <archive>'))
    .description('Import an OCI layout or "docker save" archive')
    .addHelpText('after', example('skerry image import app.tar'))
    .action(async (archive: string, options: ImageFlags) => {
      const { importArchive } = await import('../../roles/node/image.ts')
      const names = await importArchive(archive, options, timeLimit())
      console.log(options.output === 'json' ? JSON.stringify({ images: names }) : names.join('\n'))
    })
  withNode(image.command('pull <images...>'))
    .description('Pull images before something needs them')
    .option('--pull-secret-stdin', 'read a docker config.json with credentials from standard input')
    .addHelpText('after', example('skerry image pull registry.example/shop/till:1.4'))
    .action(async (images: string[], options: ImageFlags & { pullSecretStdin?: boolean }) => {
      const { pullImage } = await import('../../roles/node/image.ts')
      const { readStandardInput } = await import('../flags/standard-input.ts')
      const { stopSignal } = await import('../../roles/runtime/role-context.ts')
      const hasSecret = options.pullSecretStdin === true
      const dockerConfig = hasSecret ? await readStandardInput() : undefined
      const signal = stopSignal()
      const pulled: { name: string; id: string }[] = []
      for (const name of images) {
        const id = await pullImage(name, { ...options, dockerConfig }, signal)
        pulled.push({ name, id })
        if (options.output !== 'json') console.log(`${name}\t${id}`)
      }
      if (options.output === 'json') console.log(JSON.stringify({ images: pulled }))
    })
  withNode(image.command('list'))
    .description('List the images of the node')
    .addHelpText('after', example('skerry image list -o json'))
    .action(async (options: ImageFlags) => {
      const { listImages } = await import('../../roles/node/image.ts')
      const images = await listImages(options, timeLimit())
      if (options.output === 'json') console.log(JSON.stringify(images))
      else
        for (const each of images)
          console.log(`${each.name}\t${each.id.slice(7, 19)}\t${each.bytes}`)
    })
}

function addBackup(program: Command): void {
  program
    .command('backup <file>')
    .description('Write a consistent copy of a running store')
    .option(
      '--data-dir <path>',
      'data directory of the site or hub',
      join(dataDirectoryDefault, 'site'),
    )
    .addHelpText('after', example('skerry backup /mnt/usb/site.db'))
    .action(async (file: string, options: { dataDir: string }) => {
      const { resolve } = await import('node:path')
      const { requestBackup } = await import('../../roles/runtime/role-socket.ts')
      const result = await requestBackup(join(options.dataDir, 'backup.sock'), resolve(file))
      console.log(`${file}: ${result.bytes} bytes, revision ${result.revision}`)
    })
  program
    .command('restore <file>')
    .description('Replace a stopped store with a backup')
    .addHelpText('after', example('skerry restore /mnt/usb/site.db'))
    .option(
      '--data-dir <path>',
      'data directory of the site or hub',
      join(dataDirectoryDefault, 'site'),
    )
    .action(async (file: string, options: { dataDir: string }) => {
      const { restoreSqliteStore } = await import('@skerry/store')
      const result = await restoreSqliteStore(file, join(options.dataDir, 'store.db'))
      const kept =
        result.replacedPath === undefined ? '' : `; the store before is ${result.replacedPath}`
      console.log(`Restored at revision ${result.revision}${kept}`)
      for (const key of result.damagedKeys) console.error(`Damaged in the backup: ${key}`)
    })
}

function withDataDir(command: Command): Command {
  return command.option('--data-dir <path>', 'directory for all state', dataDirectoryDefault)
}

function timeLimit(): AbortSignal {
  return AbortSignal.timeout(commandBounds.upCommands.answerMsMax)
}
