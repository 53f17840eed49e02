import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createTestNetwork,
  unpackClients,
  type CommandResult,
  type TestHost,
  type TestNetwork,
} from '@skerry/testing'
import { exampleArchives } from './example-archives.ts'
import { fetchPage } from './guestbook-page.ts'
import { waitFor } from './wait-for.ts'

const root = join(import.meta.dirname, '../..')
const manifest = join(root, 'examples', 'guestbook', 'guestbook.yaml')

/** A host with the program, which the test runs as a person does. */
export class Machine implements AsyncDisposable {
  readonly network: TestNetwork
  readonly host: TestHost
  readonly client: TestHost
  readonly dataDir: string
  readonly #directory: string
  readonly #kubectl: string

  /** The node's name, unique on the machine because the cgroups of its pods are named after it. */
  readonly nodeName: string

  private constructor(parts: {
    network: TestNetwork
    host: TestHost
    client: TestHost
    directory: string
    kubectl: string
    nodeName: string
  }) {
    this.network = parts.network
    this.host = parts.host
    this.client = parts.client
    this.#directory = parts.directory
    this.dataDir = join(parts.directory, 'data')
    this.#kubectl = parts.kubectl
    this.nodeName = parts.nodeName
  }

  static async start(prefix: string): Promise<Machine> {
    const { kubectl } = await unpackClients()
    const directory = await mkdtemp(join(tmpdir(), 'skerry-e2e-up-'))
    const network = await createTestNetwork()
    const host = await network.addHost(1)
    const client = await network.addHost(2)
    const nodeName = `${prefix}-${process.pid.toString(36)}`
    return new Machine({ network, host, client, directory, kubectl, nodeName })
  }

  skerry(command: string, ...args: string[]): Promise<CommandResult> {
    return this.host.run([join(root, 'skerry'), ...command.split(' '), ...args], {
      timeoutMs: 120_000,
    })
  }

  withData(command: string, ...args: string[]): Promise<CommandResult> {
    return this.skerry(command, '--data-dir', this.dataDir, ...args)
  }

  up(): Promise<CommandResult> {
    return this.withData('up', '--detach', '--no-install', '--node-name', this.nodeName)
  }

  /** Runs kubectl in the context of the cluster: to the hub, and through the tunnel. */
  async kubectl(...args: string[]): Promise<string> {
    const result = await this.inContext('edge', args)
    assert.equal(result.exitCode, 0, `kubectl ${args.join(' ')}: ${result.stderr}`)
    return result.stdout
  }

  inContext(context: string, args: readonly string[], input?: string): Promise<CommandResult> {
    const config = ['--kubeconfig', join(this.dataDir, 'kubeconfig'), '--context', context]
    return this.host.run([this.#kubectl, ...config, ...args], {
      timeoutMs: 120_000,
      env: { HOME: this.#directory },
      ...(input === undefined ? {} : { input }),
    })
  }

  /** Loads the guestbook's images and creates its pods and services. */
  async deployGuestbook(): Promise<void> {
    const archives = await exampleArchives()
    const nodeDir = join(this.dataDir, 'node')
    for (const archive of await readdir(archives)) {
      await expectSuccess(
        this.skerry('image import', join(archives, archive), '--node-dir', nodeDir),
      )
    }
    await this.kubectl('apply', '-f', manifest)
    for (const workload of ['statefulset/redis', 'deployment/web']) {
      await this.kubectl('rollout', 'status', '-n', 'guestbook', workload, '--timeout=60s')
    }
  }

  /** Fetches the page from another host, over the NodePort. */
  visit(): ReturnType<typeof fetchPage> {
    return waitFor('the page', () => fetchPage(this.client, `${this.host.address}:30080`))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.network[Symbol.asyncDispose]()
    await rm(this.#directory, { recursive: true, force: true })
  }
}

export async function expectSuccess(running: Promise<CommandResult>): Promise<string> {
  const { stdout, stderr, exitCode } = await running
  assert.equal(exitCode, 0, stderr + stdout)
  return stdout
}
