import assert from 'node:assert/strict'
import { mkdtemp, readFile, readdir, readlink, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createTestNetwork,
  unpackClients,
  type CommandResult,
  type RunOptions,
  type TestHost,
  type TestMachine,
  type TestNetwork,
} from '@skerry/testing'
import { RoleProcess } from './role-process.ts'
import { waitFor } from './wait-for.ts'

const launcher = join(import.meta.dirname, '../../skerry')

/** An EdgeCluster as kubectl prints it, with the fields that are looked at. */
export interface SeenEdge {
  readonly status: {
    readonly phase?: string
    readonly machines: readonly { readonly unknownHostKey?: string; readonly node?: string }[]
    readonly jumps?: readonly { readonly hostKey?: string }[]
    readonly capacity?: string
    readonly steps: readonly SeenStep[]
  }
}

export interface SeenStep {
  readonly name: string
  readonly machine?: string
  readonly state: string
  readonly attempt: number
  readonly message: string
}

/** A hub on its own host, started from a bundle as machines need it, and kubectl on the same host; it makes one cluster. */
export class EdgeHub implements AsyncDisposable {
  readonly network: TestNetwork
  readonly server: string
  /** The host of the hub, from which kubectl runs. */
  readonly host: TestHost
  readonly #patienceMs: number
  #hub: RoleProcess
  readonly #directory: string
  readonly #kubectl: string
  readonly #key = ['edgecluster', 'branch-7', '-n', 'edges']
  /** The arguments of every process that was seen in the network. */
  readonly #seenArguments = new Set<string>()
  readonly #namespaces = new Set<number>()

  private constructor(parts: {
    network: TestNetwork
    host: TestHost
    directory: string
    kubectl: string
    options: readonly string[]
    patienceMs: number
  }) {
    this.#patienceMs = parts.patienceMs
    this.network = parts.network
    this.host = parts.host
    this.#directory = parts.directory
    this.#kubectl = parts.kubectl
    this.server = `https://${parts.host.address}:7443`
    this.#hub = this.#process(parts.options)
  }

  #process(options: readonly string[]): RoleProcess {
    return new RoleProcess({
      host: this.host,
      name: 'hub',
      command: [launcher, 'hub', '--data-dir', join(this.#directory, 'hub'), ...options],
      logFile: join(this.#directory, 'hub.log'),
    })
  }

  /** Starts a hub with these options; `patienceMs` is how long each awaited state may take. */
  static async start(
    options: readonly string[] = [],
    { patienceMs = 150_000 } = {},
  ): Promise<EdgeHub> {
    const { kubectl } = await unpackClients()
    const directory = await mkdtemp(join(tmpdir(), 'skerry-e2e-edge-'))
    const network = await createTestNetwork()
    const host = await network.addHost(1)
    const hub = new EdgeHub({ network, host, directory, kubectl, options, patienceMs })
    try {
      await hub.restart()
      return hub
    } catch (error) {
      await hub[Symbol.asyncDispose]()
      throw error
    }
  }

  kill(): Promise<void> {
    return this.#hub.kill()
  }

  /** Starts it, with further options if there are any. */
  async restart(...options: readonly string[]): Promise<void> {
    if (options.length > 0) this.#hub = this.#process(options)
    await this.#hub.start()
    const asked = async (): Promise<true | undefined> =>
      (await this.kubectl('get', '--raw', '/readyz')) === 'ok' ? true : undefined
    await this.until('the hub to serve', asked)
  }

  async kubectl(...args: string[]): Promise<string> {
    return printed(args, await this.tryKubectl(args))
  }

  tryKubectl(args: readonly string[], options: RunOptions = {}): Promise<CommandResult> {
    return this.#run(join(this.#directory, 'hub', 'admin.kubeconfig'), args, options)
  }

  /** Runs kubectl on the hub's host with another kubeconfig. */
  kubectlBy(kubeconfig: string, args: readonly string[]): Promise<CommandResult> {
    return this.#run(kubeconfig, args, {})
  }

  /** Runs skerry as the hub's administrator. */
  skerry(...args: string[]): Promise<CommandResult> {
    const command = [launcher, ...args, '--data-dir', join(this.#directory, 'hub')]
    return this.host.run(command, { timeoutMs: this.#patienceMs })
  }

  async apply(manifest: string): Promise<void> {
    const args = ['apply', '-f', '-']
    printed(args, await this.tryKubectl(args, { input: manifest }))
  }

  /** Asks the cluster's own API, through the hub. */
  async siteKubectl(...args: string[]): Promise<string> {
    return printed(args, await this.#run(await this.#siteConfig(), args, {}))
  }

  async applyToSite(manifest: string): Promise<void> {
    const args = ['apply', '-f', '-']
    printed(args, await this.#run(await this.#siteConfig(), args, { input: manifest }))
  }

  async edge(): Promise<SeenEdge> {
    await this.#lookAtArguments()
    // The program's own object; the tests below would fail without its fields.
    const edge = JSON.parse(await this.kubectl('get', ...this.#key, '-o', 'json')) as SeenEdge
    assert.ok(edge.status?.steps, 'it has no status yet')
    return edge
  }

  step(edge: SeenEdge, name: string, machine: Pick<TestMachine, 'address'>): SeenStep {
    const found = edge.status.steps.find(
      (step) => step.name === name && step.machine === machine.address,
    )
    assert.ok(found, `there is no step ${name} of ${machine.address}`)
    return found
  }

  untilPhase(phase: string): Promise<SeenEdge> {
    return this.until(`phase ${phase}`, async () => {
      const edge = await this.edge()
      return edge.status.phase === phase ? edge : undefined
    })
  }

  /** Waits for what is neither false nor undefined. */
  async until<T>(what: string, look: () => Promise<T | false | undefined>): Promise<T> {
    const asked = async (): Promise<{ answer: T } | undefined> => {
      const answer = await look()
      return answer === false || answer === undefined ? undefined : { answer }
    }
    const options = { timeoutMs: this.#patienceMs, diagnose: () => this.#diagnose() }
    return (await waitFor(what, asked, options)).answer
  }

  async annotate(ask: string, value: string): Promise<void> {
    await this.kubectl('annotate', ...this.#key, '--overwrite', `hub.skerry.io/${ask}=${value}`)
  }

  async patchSpec(spec: unknown): Promise<void> {
    const patch = JSON.stringify({ spec })
    await this.kubectl('patch', ...this.#key, '--type', 'merge', '--patch', patch)
  }

  async setSecret(name: string, stringData: Readonly<Record<string, string>>): Promise<void> {
    const metadata = { name, namespace: 'edges' }
    await this.apply(JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata, stringData }))
  }

  /** Reads an object in the namespace of the edge cluster, without the fields that its server adds. */
  async read(kind: string, name: string): Promise<{ metadata: object; spec?: object }> {
    const text = await this.kubectl('get', kind, name, '-n', 'edges', '-o', 'json')
    // The server's own object.
    const {
      status: _,
      metadata,
      ...object
    } = JSON.parse(text) as {
      metadata: Readonly<Record<string, unknown>>
      spec?: object
      status?: unknown
    }
    const { namespace, labels } = metadata
    return { ...object, metadata: { name, namespace, labels } }
  }

  /** Returns the token with which the agent of a cluster registers. */
  async tokenOf(cluster: string): Promise<string> {
    const template =
      '{range .items[*]}{.data.auth-extra-groups} {.data.token-id} {.data.token-secret}{"\\n"}{end}'
    const where = ['-n', 'kube-system', '--field-selector', 'type=bootstrap.kubernetes.io/token']
    const lines = await this.kubectl('get', 'secrets', ...where, '-o', `jsonpath=${template}`)
    for (const line of lines.split('\n')) {
      const [groups = '', id = '', secret = ''] = line
        .split(' ')
        .map((each) => Buffer.from(each, 'base64').toString('utf8'))
      if (groups.split(',').some((group) => group.endsWith(`:${cluster}`))) return `${id}.${secret}`
    }
    throw new Error(`Cannot find the token of ${cluster}: the hub has none`)
  }

  /** Returns what the hub says to the bearer of a token, who asks for something that only administrators see. */
  async answerTo(token: string): Promise<string> {
    const hub = ['--server', this.server, '--insecure-skip-tls-verify']
    const asked = ['get', 'secrets', '-n', 'kube-system', '--token', token]
    return (await this.kubectlBy('/dev/null', [...hub, ...asked])).stderr
  }

  /** Returns the texts in which no secret may stand, by the place where they were found. */
  async everythingWritten(): Promise<Record<string, string>> {
    const audit = join(this.#directory, 'hub', 'audit.log')
    return {
      'the log of the hub': await readFile(this.#hub.logFile, 'utf8'),
      'the audit log': await readFile(audit, 'utf8'),
      'an object of the hub': await this.kubectl(
        'get',
        'edgeclusters,edgejobs,edgejobclusters,configmaps,events',
        '-A',
        '-o',
        'yaml',
      ),
      'an argument of a process': [...this.#seenArguments].join('\n'),
    }
  }

  async #siteConfig(): Promise<string> {
    const admin = await readFile(join(this.#directory, 'hub', 'admin.kubeconfig'), 'utf8')
    const path = join(this.#directory, 'site.kubeconfig')
    await writeFile(path, admin.replace(/server: .*/, `server: ${this.server}/clusters/branch-7`))
    return path
  }

  #run(kubeconfig: string, args: readonly string[], options: RunOptions): Promise<CommandResult> {
    const env = { HOME: this.#directory, KUBECACHEDIR: join(this.#directory, 'kube-cache') }
    const command = [this.#kubectl, '--kubeconfig', kubeconfig, ...args]
    return this.host.run(command, { timeoutMs: 130_000, ...options, env })
  }

  /** Remembers the arguments of all processes in the hub's network and the machines'. */
  async #lookAtArguments(): Promise<void> {
    if (this.#namespaces.size === 0) {
      const prefix = this.host.netns.replace(/-\d+$/, '-')
      for (const netns of await readdir('/run/netns')) {
        if (netns.startsWith(prefix)) this.#namespaces.add((await stat(`/run/netns/${netns}`)).ino)
      }
    }
    for (const pid of (await readdir('/proc')).filter((each) => /^\d+$/.test(each))) {
      // A process may end meanwhile.
      const network = await readlink(`/proc/${pid}/ns/net`).catch(() => '')
      if (!this.#namespaces.has(Number(/\d+/.exec(network)?.[0]))) continue
      const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      this.#seenArguments.add(line.replaceAll('\0', ' '))
    }
  }

  async #diagnose(): Promise<string> {
    const path =
      '{.status.phase}{"\\n"}{range .status.steps[*]}{.name} {.machine} {.state} {.attempt} {.message}{"\\n"}{end}'
    const { stdout, stderr } = await this.tryKubectl([
      'get',
      ...this.#key,
      '-o',
      `jsonpath=${path}`,
    ])
    const steps =
      '{range .items[*]}{.metadata.name} {.status.phase}{"\\n"}{range .status.steps[*]}{.name} {.machine} {.state} {.attempt} {.message} {.output}{"\\n"}{end}{end}'
    const jobs = ['get', 'edgejobclusters', '-A', '-o', `jsonpath=${steps}`]
    const { stdout: parts } = await this.tryKubectl(jobs)
    const log = await readFile(this.#hub.logFile, 'utf8')
    return `${stdout}${stderr}\n${parts}\n--- hub\n${log.split('\n').slice(-25).join('\n')}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.network[Symbol.asyncDispose]()
    await rm(this.#directory, { recursive: true, force: true })
  }
}

function printed(args: readonly string[], { exitCode, stdout, stderr }: CommandResult): string {
  assert.equal(exitCode, 0, `kubectl ${args.join(' ')}: ${stderr}`)
  return stdout
}
