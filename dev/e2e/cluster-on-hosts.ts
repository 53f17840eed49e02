import { readFile, readdir, rm, rmdir, mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createTestNetwork,
  unpackClients,
  type CommandResult,
  type RunOptions,
  type TestHost,
  type TestNetwork,
} from '@skerry/testing'
import { exampleArchives } from './example-archives.ts'
import { RoleProcess, skerryCommand, skerryEnv } from './role-process.ts'
import { waitFor, type WaitOptions } from './wait-for.ts'

export interface EdgeNode {
  readonly name: string
  readonly host: TestHost
  readonly role: RoleProcess
}

export interface ClusterOptions {
  /** The program; default: from its sources. */
  command?: readonly string[] | undefined
  /** The site's own program; default: as all others. */
  siteCommand?: readonly string[]
  /** A directory of image archives for every node; default: those of the examples. */
  archives?: string | undefined
  /** Further flags of the site. Called before it starts, when the network is there. */
  siteFlags?: (place: ClusterPlace) => Promise<readonly string[]>
}

/** The directory and the hosts, which are there before the site starts. */
export interface ClusterPlace {
  readonly directory: string
  /** Returns a host on the switch; 1 is the site's own. */
  host(number: number): Promise<TestHost>
}

/** The output of `skerry token create -o json`. */
export interface JoinToken {
  server: string
  token: string
  caHash: string
}

/** The number of the site's host. Each test chooses the hosts of its nodes. */
const siteHostNumber = 1

/** Hosts on one switch, each made when it is first asked for. */
class HostsByNumber {
  readonly #hosts = new Map<number, Promise<TestHost>>()
  readonly #network: TestNetwork

  constructor(network: TestNetwork) {
    this.#network = network
  }

  at(number: number): Promise<TestHost> {
    const host = this.#hosts.get(number) ?? this.#network.addHost(number)
    this.#hosts.set(number, host)
    return host
  }
}

/**
 * A site, its nodes and kubectl, each a real process, on their own hosts. Everything that it makes
 * (directories, cgroups, names) carries this process's id and is removed when it is disposed.
 */
export class ClusterOnHosts implements AsyncDisposable {
  readonly directory: string
  readonly network: TestNetwork
  readonly siteHost: TestHost
  readonly site: RoleProcess
  readonly nodes: EdgeNode[] = []
  /** Further processes of a test, whose logs belong to the diagnosis. */
  readonly roles: RoleProcess[] = []
  readonly #kubectl: string
  readonly #archives: string
  readonly #command: readonly string[]
  readonly #hosts: HostsByNumber

  private constructor(parts: {
    directory: string
    network: TestNetwork
    hosts: HostsByNumber
    siteHost: TestHost
    kubectl: string
    archives: string
    command: readonly string[]
    siteCommand: readonly string[]
    siteFlags: readonly string[]
  }) {
    this.directory = parts.directory
    this.network = parts.network
    this.siteHost = parts.siteHost
    this.#kubectl = parts.kubectl
    this.#archives = parts.archives
    this.#command = parts.command
    this.#hosts = parts.hosts
    this.site = new RoleProcess({
      host: parts.siteHost,
      name: 'site',
      command: [...parts.siteCommand, 'site', '--data-dir', this.siteDirectory, ...parts.siteFlags],
      logFile: join(parts.directory, 'site.log'),
    })
  }

  /** Starts a serving site; nodes are added later. */
  static async start(options: ClusterOptions = {}): Promise<ClusterOnHosts> {
    const archives = options.archives ?? (await exampleArchives())
    const command = options.command ?? skerryCommand
    const { kubectl } = await unpackClients()
    const directory = await mkdtemp(join(tmpdir(), 'skerry-e2e-'))
    const network = await createTestNetwork()
    const hosts = new HostsByNumber(network)
    const siteHost = await hosts.at(siteHostNumber)
    const place = { directory, host: (number: number) => hosts.at(number) }
    const siteFlags = await siteFlagsOf(options, place).catch(async (error: unknown) => {
      await network[Symbol.asyncDispose]()
      await rm(directory, { recursive: true, force: true })
      throw error
    })
    const cluster = new ClusterOnHosts({
      directory,
      network,
      hosts,
      siteHost,
      kubectl,
      archives,
      command,
      siteCommand: options.siteCommand ?? command,
      siteFlags,
    })
    try {
      await cluster.site.start()
      await cluster.untilServing()
      return cluster
    } catch (error) {
      await cluster[Symbol.asyncDispose]()
      throw error
    }
  }

  get siteDirectory(): string {
    return join(this.directory, 'site')
  }

  get kubeconfig(): string {
    return join(this.siteDirectory, 'admin.kubeconfig')
  }

  async untilServing(): Promise<void> {
    await this.waitFor('the site to serve', async () =>
      (await this.kubectl('get', '--raw', '/readyz')) === 'ok' ? true : undefined,
    )
  }

  /** A host on the same switch; the same one for the same number. */
  host(number: number): Promise<TestHost> {
    return this.#hosts.at(number)
  }

  async createToken(): Promise<JoinToken> {
    const output = await this.skerry(
      'token',
      'create',
      '--data-dir',
      this.siteDirectory,
      '-o',
      'json',
    )
    // The program's own JSON; the join below would fail without its fields.
    return JSON.parse(output) as JoinToken
  }

  /** Joins a node on the host, with these further flags, and waits until it is Ready. */
  async addNode(hostNumber: number, flags: readonly string[] = []): Promise<EdgeNode> {
    const { server, token, caHash } = await this.createToken()
    const plan = await this.planNode(hostNumber)
    const tokenFile = join(this.directory, `${plan.name}.token`)
    await writeFile(tokenFile, token)
    const joining = ['--server', server, '--token-file', tokenFile, '--ca-hash', caHash]
    const command = [...this.#command, 'node', ...plan.flags, ...flags, ...joining]
    const node = await this.startNode(plan, command)
    await this.untilNodeReady(node.name)
    return node
  }

  async planNode(hostNumber: number): Promise<NodePlan> {
    const host = await this.host(hostNumber)
    // The name is unique on the machine because the cgroups of the node's pods are named after it.
    const name = `node-${hostNumber}-${process.pid.toString(36)}`
    const dataDirectory = join(this.directory, name)
    await mkdir(dataDirectory, { recursive: true })
    return {
      name,
      host,
      dataDirectory,
      flags: ['--data-dir', dataDirectory, '--node-name', name, '--preload-dir', this.#archives],
    }
  }

  /** Starts a node with the command that a restart repeats. */
  async startNode({ name, host }: NodePlan, command: readonly string[]): Promise<EdgeNode> {
    const logFile = join(this.directory, `${name}.log`)
    const node = { name, host, role: new RoleProcess({ host, name, command, logFile }) }
    this.nodes.push(node)
    await node.role.start()
    return node
  }

  async untilNodeReady(name: string): Promise<void> {
    await this.waitFor(`node ${name} to be Ready`, async () =>
      (await this.nodeCondition(name)) === 'True' ? true : undefined,
    )
  }

  /** Returns the status of the Ready condition: True, False, Unknown, or '' if there is none. */
  async nodeCondition(name: string): Promise<string> {
    const path = '{.status.conditions[?(@.type=="Ready")].status}'
    return this.kubectl('get', 'node', name, '-o', `jsonpath=${path}`)
  }

  /** Returns the output; throws unless it ended with 0. */
  async kubectl(...args: string[]): Promise<string> {
    return this.#expectSuccess(['kubectl', ...args], await this.tryKubectl(args))
  }

  async tryKubectl(args: readonly string[], options: RunOptions = {}): Promise<CommandResult> {
    return this.siteHost.run(this.kubectlCommand(args), {
      timeoutMs: 120_000,
      ...options,
      env: { ...this.kubectlEnv, ...options.env },
    })
  }

  /** Returns a command to start and watch rather than run to its end. */
  kubectlCommand(args: readonly string[]): string[] {
    return [this.#kubectl, '--kubeconfig', this.kubeconfig, ...args]
  }

  /** Sets a separate home, because all these clusters are 127.0.0.1:6443 to kubectl's discovery cache. */
  get kubectlEnv(): Record<string, string> {
    return { HOME: this.directory, KUBECACHEDIR: join(this.directory, 'kube-cache') }
  }

  async apply(manifest: string): Promise<string> {
    const result = await this.tryKubectl(['apply', '-f', '-'], { input: manifest })
    return this.#expectSuccess(['kubectl', 'apply'], result)
  }

  /** The program, in the site's host. */
  async skerry(...args: string[]): Promise<string> {
    const command = [...this.#command, ...args]
    return this.#expectSuccess(
      ['skerry', ...args],
      await this.siteHost.run(command, { env: skerryEnv, timeoutMs: 60_000 }),
    )
  }

  #expectSuccess(command: readonly string[], result: CommandResult): string {
    if (result.exitCode === 0) return result.stdout
    throw new Error(
      `${command.join(' ')} ended with ${result.exitCode}: ${result.stderr}${result.stdout}`,
    )
  }

  async waitFor<T>(
    what: string,
    look: () => Promise<T | undefined>,
    options: WaitOptions = {},
  ): Promise<T> {
    return waitFor(what, look, { diagnose: () => this.diagnose(), ...options })
  }

  /** Returns what the reader of a failed test needs first. */
  async diagnose(): Promise<string> {
    const questions = [
      ['get', 'nodes,pods,pvc', '-A', '-o', 'wide'],
      ['get', 'events', '-A', '--sort-by=.lastTimestamp'],
    ]
    const parts: string[] = []
    for (const question of questions) {
      const answer = await this.tryKubectl(question, { timeoutMs: 10_000 })
      parts.push(lastLines(`kubectl ${question.join(' ')}`, answer.stdout + answer.stderr, 40))
    }
    for (const role of [this.site, ...this.nodes.map((node) => node.role), ...this.roles]) {
      const text = await readFile(role.logFile, 'utf8').catch(() => 'no log')
      parts.push(lastLines(`${role.name} (${role.isRunning ? 'runs' : 'ended'})`, text, 25))
    }
    return parts.join('\n')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.network[Symbol.asyncDispose]()
    for (const { name } of this.nodes) await removeCgroups(name)
    await rm(this.directory, { recursive: true, force: true })
  }
}

async function siteFlagsOf(
  { siteFlags }: ClusterOptions,
  place: ClusterPlace,
): Promise<readonly string[]> {
  return (await siteFlags?.(place)) ?? []
}

export interface NodePlan {
  name: string
  host: TestHost
  dataDirectory: string
  /** The flags of `skerry node`, without those for joining. */
  flags: readonly string[]
}

function lastLines(title: string, text: string, count: number): string {
  return `--- ${title}\n${text.trimEnd().split('\n').slice(-count).join('\n')}`
}

/** A process that is killed leaves its cgroups behind: directories that only rmdir removes. */
async function removeCgroups(nodeName: string): Promise<void> {
  for (const controller of await readdir('/sys/fs/cgroup')) {
    await removeTree(join('/sys/fs/cgroup', controller, 'skerry', nodeName))
  }
  await removeTree(join('/sys/fs/cgroup/skerry', nodeName))
}

async function removeTree(path: string): Promise<void> {
  const entries = await readdir(path, { withFileTypes: true }).catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  })
  if (entries === undefined) return
  for (const entry of entries) if (entry.isDirectory()) await removeTree(join(path, entry.name))
  await waitFor(`${path} to be empty`, async () => rmdir(path).then(() => true), {
    timeoutMs: 5_000,
  })
}

/**
 * Reports whether a path does not exist. In cgroup v2 the root also holds files, which have nothing below
 * them.
 */
function isMissing(error: unknown): boolean {
  if (!(error instanceof Error && 'code' in error)) return false
  return error.code === 'ENOENT' || error.code === 'ENOTDIR'
}
