import type { Command } from 'commander'
import type { LogLevel } from '@skerry/base'
import { dataDirectoryDefault } from '../../roles/runtime/data-directory.ts'
import { defaultNodeName } from '../../roles/runtime/host-addresses.ts'
import { example, runDirectoryDefault, toJson, toLogLevel, toPort } from '../flags/option-values.ts'
import { commandBounds } from '../limits-table.ts'

/** Adds the commands for everything on one machine: up, and those that manage it. */
export function addUpCommands(program: Command): void {
  addUp(program)
  addDown(program)
  addStatus(program)
  addReset(program)
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

function withDataDir(command: Command): Command {
  return command.option('--data-dir <path>', 'directory for all state', dataDirectoryDefault)
}

function timeLimit(): AbortSignal {
  return AbortSignal.timeout(commandBounds.answerMsMax)
}
