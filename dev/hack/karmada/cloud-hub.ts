import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestHost } from '@skerry/testing'
import { RoleProcess, skerryCommand, skerryEnv } from '../../e2e/role-process.ts'
import { waitFor } from '../../e2e/wait-for.ts'

export interface CloudHub {
  readonly host: TestHost
  /** The server's https://address:port. */
  readonly server: string
  readonly adminKubeconfig: string
  /** Runs `skerry <args>` for this hub, on the hub's host; returns the output. */
  skerry(...args: string[]): Promise<string>
  /** The command of `skerry <args>`. */
  command(...args: string[]): string[]
  /** A kubeconfig of the hub's administrator with a path behind the server. */
  kubeconfigFor(path: string): Promise<string>
}

const port = 7_443

/** Starts a hub as a separate process, with further options of the command; resolves when it serves. */
export async function startCloudHub(
  host: TestHost,
  directory: string,
  options: readonly string[] = [],
): Promise<CloudHub> {
  const dataDirectory = join(directory, 'hub')
  const server = `https://${host.address}:${port}`
  const command = ['hub', '--data-dir', dataDirectory, ...options]
  await role('hub', { host, directory }, command).start()
  const adminKubeconfig = join(dataDirectory, 'admin.kubeconfig')
  const text = await waitFor('the hub to serve', () => readFile(adminKubeconfig, 'utf8'))
  const commandOf = (...args: string[]): string[] => [
    ...skerryCommand,
    ...args,
    '--data-dir',
    dataDirectory,
  ]
  return {
    host,
    server,
    adminKubeconfig,
    command: commandOf,
    async skerry(...args) {
      const options = { env: { ...skerryEnv }, timeoutMs: 60_000 }
      const result = await host.run(commandOf(...args), options)
      assert.equal(result.exitCode, 0, `skerry ${args.join(' ')}: ${result.stderr}`)
      return result.stdout
    },
    async kubeconfigFor(path) {
      const file = join(directory, `hub${path.replaceAll('/', '-')}.kubeconfig`)
      await writeFile(file, text.replace(/server: .*/, `server: ${server}${path}`), { mode: 0o600 })
      return file
    },
  }
}

export interface AgentPlan {
  readonly name: string
  /** The host on which the agent runs, and from which it reaches the cluster. */
  readonly host: TestHost
  readonly kubeconfig: string
  readonly directory: string
  /** Whether the agent applies the hub's Works for its cluster. */
  readonly appliesWorks?: boolean
  /** Whether groups of the site's nodes are separate clusters. */
  readonly hasVirtualClusters?: boolean
}

/** Registers with a fresh token; resolves when the hub has its tunnel. */
export async function connectAgent(hub: CloudHub, plan: AgentPlan): Promise<RoleProcess> {
  const { name, host, kubeconfig, directory, hasVirtualClusters = false } = plan
  const groups = hasVirtualClusters ? ['--virtual-clusters'] : []
  const printed = await hub.skerry(
    'cluster',
    'join-command',
    name,
    '--server',
    hub.server,
    '-o',
    'json',
    ...groups,
  )
  const { token, caHash } = JSON.parse(printed)
  const tokenFile = join(directory, 'agent.token')
  await writeFile(tokenFile, token, { mode: 0o600 })
  const toHub = [
    '--hub',
    hub.server,
    '--name',
    name,
    '--token-file',
    tokenFile,
    '--ca-hash',
    caHash,
  ]
  const toCluster = ['--kubeconfig', kubeconfig, '--data-dir', join(directory, 'agent')]
  const duties = plan.appliesWorks === true ? ['--apply-works'] : []
  const args = ['agent', ...toHub, ...toCluster, ...duties, ...groups]
  const agent = role('agent', { host, directory }, args)
  await agent.start()
  await untilConnected(hub, name)
  return agent
}

export async function untilConnected(hub: CloudHub, name: string): Promise<void> {
  await waitFor(`the tunnel of ${name} to open`, async () => {
    const lines = JSON.parse(await hub.skerry('cluster', 'list', '-o', 'json'))
    const isOpen = lines.some(
      (line: { name: string; tunnel: string; ready: string }) =>
        line.name === name && line.tunnel === 'open' && line.ready === 'True',
    )
    return isOpen ? true : undefined
  })
}

function role(
  name: string,
  { host, directory }: { host: TestHost; directory: string },
  args: readonly string[],
): RoleProcess {
  const logFile = join(directory, `${name}.log`)
  return new RoleProcess({ host, name, command: [...skerryCommand, ...args], logFile })
}

/** Starts a script of this tree that prints a path when it is ready, and runs until its host is removed. */
export async function startScript(
  host: TestHost,
  { script, args, logFile }: { script: string; args: readonly string[]; logFile: string },
): Promise<string> {
  // Upstream's API server does not start on a machine without a default route.
  const gateway = host.address.replace(/\d+$/, '254')
  await host.run(['ip', 'route', 'add', 'default', 'via', gateway])
  const path = join(import.meta.dirname, '../../..', script)
  const running = new RoleProcess({
    host,
    name: script,
    command: [process.execPath, '--disable-warning=ExperimentalWarning', path, ...args],
    logFile,
  })
  await running.start()
  return waitFor(
    `${script} to be ready`,
    async () => {
      const text = await readFile(logFile, 'utf8')
      if (!running.isRunning) throw new Error(`${script} ended: ${text.slice(-2_000)}`)
      return text.split('\n').find((line) => line.endsWith('/kubeconfig'))
    },
    { timeoutMs: 120_000 },
  )
}
