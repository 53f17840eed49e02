import { InvalidArgumentError, type Command } from 'commander'
import type { LogLevel } from '@skerry/base'
import { dataDirectoryDefault } from './data-directory.ts'
import { runRole } from './role-context.ts'

const siteDataDirectory = `${dataDirectoryDefault}/site`

/** The roles: programs that serve until they are stopped. */
export function addRoleCommands(program: Command): void {
  addSite(program)
}

function addSite(program: Command): void {
  role(program.command('site'))
    .description('Run a whole Kubernetes control plane: API server, store, scheduler, controllers')
    .option('--data-dir <path>', 'where its state is kept', siteDataDirectory)
    .option('--name <name>', 'the name of this cluster', 'site')
    .option('--bind-address <ip>', 'listen on this address', '0.0.0.0')
    .option('--port <number>', 'port of the API', toPort, 6443)
    .option('--san <name>', 'a further name or address that clients use (repeatable)', collect, [])
    .option('--cluster-cidr <range>', 'addresses of pods', '10.42.0.0/16')
    .option('--service-cidr <range>', 'addresses of services', '10.43.0.0/16')
    .option('--cluster-domain <name>', 'DNS domain of the cluster', 'cluster.local')
    .addHelpText('after', example('skerry site --name branch-7 --data-dir /var/lib/skerry/site'))
    .action(async (options: SiteFlags) => {
      const { runSite } = await import('./site.ts')
      await runRole('site', options.logLevel, (context) =>
        runSite({ ...options, extraSans: options.san }, context),
      )
    })
}

interface SiteFlags {
  dataDir: string
  name: string
  bindAddress: string
  port: number
  san: string[]
  clusterCidr: string
  serviceCidr: string
  clusterDomain: string
  logLevel: LogLevel
}

function role(command: Command): Command {
  return command.option('--log-level <level>', 'error, info or debug', toLogLevel, 'info')
}

function toLogLevel(text: string): LogLevel {
  if (text === 'error' || text === 'info' || text === 'debug') return text
  throw new InvalidArgumentError('use error, info or debug')
}

export function toPort(text: string): number {
  const port = Number(text)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw new InvalidArgumentError('a port is a whole number from 0 to 65535')
}

export function collect(value: string, previous: string[]): string[] {
  return [...previous, value]
}

export function example(...lines: string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}\n`
}
