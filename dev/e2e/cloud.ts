import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CommandResult, RunOptions, TestHost } from '@skerry/testing'
import type { ClusterOnHosts } from './cluster-on-hosts.ts'
import { RoleProcess, skerryCommand, skerryEnv } from './role-process.ts'

const cloudHostNumber = 3

export interface CloudOptions {
  /** The name of the site on the hub; default: `edge`. */
  name?: string
  /** The number of the hub's host. */
  hostNumber?: number
  /** Flags for join-command and agent, in addition to those that every agent has. */
  flags?: readonly string[]
  /** Further flags of the hub. */
  hubFlags?: readonly string[]
  /** The program as the hub runs it, and as the agent does; default: from its sources. */
  hubCommand?: readonly string[]
  agentCommand?: readonly string[]
}

/** A hub on its own host, with the site connected to it, and kubectl next to the hub. */
export interface Cloud {
  readonly cluster: ClusterOnHosts
  readonly host: TestHost
  readonly hub: RoleProcess
  readonly agent: RoleProcess
  /** The hub's data directory. */
  readonly directory: string
  /** The hub's own address. */
  readonly server: string
  /** The kubeconfig of the hub's administrator; its server is the edge behind the hub. */
  readonly kubeconfig: string
  /** Returns the command of kubectl as the edge's administrator. */
  readonly command: (args: readonly string[]) => string[]
  /** The environment for commands that are started and watched. */
  readonly env: Readonly<Record<string, string>>
  readonly tryKubectl: (args: readonly string[], options?: RunOptions) => Promise<CommandResult>
  /** Returns the output; throws unless it ended with 0. */
  readonly kubectl: (...args: string[]) => Promise<string>
  /** The program, in the hub's host; the same. */
  readonly skerry: (...args: string[]) => Promise<string>
}

/** Returns when requests pass. */
export async function startCloud(
  cluster: ClusterOnHosts,
  options: CloudOptions = {},
): Promise<Cloud> {
  const { name = 'edge', hostNumber = cloudHostNumber, flags = [], hubFlags = [] } = options
  const { hubCommand = skerryCommand, agentCommand = skerryCommand } = options
  const host = await cluster.host(hostNumber)
  const directory = join(cluster.directory, 'hub')
  const server = `https://${host.address}:7443`
  const hubArguments = ['hub', '--data-dir', directory, ...hubFlags]
  const hub = role(cluster, host, 'hub', [...hubCommand, ...hubArguments])
  await hub.start()
  const admin = join(directory, 'admin.kubeconfig')
  const text = await cluster.waitFor('the hub to serve', () => readFile(admin, 'utf8'))
  const skerry = async (...args: string[]): Promise<string> =>
    printedBy(args, await host.run([...hubCommand, ...args], { env: skerryEnv, timeoutMs: 60_000 }))
  const where = ['--data-dir', directory, '--server', server]
  const joining = ['cluster', 'join-command', name, ...where, ...flags]
  const { token, caHash } = JSON.parse(await skerry(...joining, '-o', 'json'))
  const tokenFile = join(cluster.directory, 'agent.token')
  await writeFile(tokenFile, token)
  const toHub = ['--hub', server, '--name', name, '--token-file', tokenFile, '--ca-hash', caHash]
  const own = join(cluster.directory, 'agent')
  const toSite = ['--kubeconfig', cluster.kubeconfig, '--data-dir', own]
  const agent = role(cluster, cluster.siteHost, 'agent', [
    ...agentCommand,
    'agent',
    ...toHub,
    ...toSite,
    ...flags,
  ])
  await agent.start()
  const kubeconfig = join(cluster.directory, 'edge.kubeconfig')
  await writeFile(kubeconfig, text.replace(/server: .*/, `server: ${server}/clusters/${name}`))
  const [program = ''] = cluster.kubectlCommand([])
  const command = (args: readonly string[]) => [program, '--kubeconfig', kubeconfig, ...args]
  const env = { HOME: cluster.directory, KUBECACHEDIR: join(cluster.directory, 'cloud-cache') }
  const tryKubectl = (args: readonly string[], options: RunOptions = {}) =>
    host.run(command(args), { timeoutMs: 120_000, ...options, env: { ...env, ...options.env } })
  await cluster.waitFor('the tunnel to open', async () =>
    (await tryKubectl(['get', '--raw', '/readyz'])).stdout === 'ok' ? true : undefined,
  )
  return {
    cluster,
    host,
    hub,
    agent,
    directory,
    server,
    kubeconfig,
    command,
    env,
    tryKubectl,
    kubectl: async (...args) => printedBy(args, await tryKubectl(args)),
    skerry,
  }
}

function role(
  cluster: ClusterOnHosts,
  host: TestHost,
  name: 'hub' | 'agent',
  command: readonly string[],
): RoleProcess {
  const logFile = join(cluster.directory, `${name}.log`)
  const process = new RoleProcess({ host, name, command, logFile })
  cluster.roles.push(process)
  return process
}

function printedBy(args: readonly string[], { exitCode, stdout, stderr }: CommandResult): string {
  assert.equal(exitCode, 0, `${args.join(' ')}: ${stderr}`)
  return stdout
}
