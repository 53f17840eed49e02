import assert from 'node:assert/strict'
import { mkdtemp, open, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createTestNetwork,
  unpackClients,
  type CommandResult,
  type TestHost,
  type TestMachine,
  type TestNetwork,
} from '@skerry/testing'
import { RoleProcess } from './role-process.ts'
import { waitFor } from './wait-for.ts'

const launcher = join(import.meta.dirname, '../../skerry')

/** A hub that gives lines to machines, and a person who pastes them there. */
export class LineHub implements AsyncDisposable {
  readonly network: TestNetwork
  readonly address: string
  line = ''
  readonly #host: TestHost
  readonly #hub: RoleProcess
  readonly #directory: string
  readonly #kubectl: string
  readonly #tokens = new Set<string>()
  readonly #seenArguments = new Set<string>()

  private constructor(
    network: TestNetwork,
    host: TestHost,
    { directory, kubectl, words }: { directory: string; kubectl: string; words: readonly string[] },
  ) {
    this.network = network
    this.address = host.address
    this.#host = host
    this.#directory = directory
    this.#kubectl = kubectl
    const dataDir = join(directory, 'hub')
    const command = [launcher, 'hub', '--data-dir', dataDir, ...words]
    this.#hub = new RoleProcess({ host, name: 'hub', command, logFile: join(directory, 'hub.log') })
  }

  static async start(...words: readonly string[]): Promise<LineHub> {
    const { kubectl } = await unpackClients()
    const directory = await mkdtemp(join(tmpdir(), 'skerry-e2e-line-'))
    const network = await createTestNetwork()
    const hub = new LineHub(network, await network.addHost(1), { directory, kubectl, words })
    try {
      await hub.restart()
      return hub
    } catch (error) {
      await hub[Symbol.asyncDispose]()
      throw error
    }
  }

  get server(): string {
    return `https://${this.address}:7443`
  }

  /** Runs skerry as the hub's administrator. */
  skerry(...words: string[]): Promise<CommandResult> {
    const own = ['--data-dir', join(this.#directory, 'hub')]
    return this.#host.run([launcher, ...words, ...own], { timeoutMs: 60_000 })
  }

  kill(): Promise<void> {
    return this.#hub.kill()
  }

  async restart(): Promise<void> {
    await this.#hub.start()
    const admin = join(this.#directory, 'hub', 'admin.kubeconfig')
    await waitFor('the hub to serve', async () => {
      const { stdout } = await this.#ask(admin, ['get', '--raw', '/readyz'])
      return stdout === 'ok' ? true : undefined
    })
  }

  async makeLine(...more: readonly string[]): Promise<void> {
    const dataDir = join(this.#directory, 'hub')
    const server = `https://${this.address}:7443`
    const words = [
      'cluster',
      'join-command',
      'branch-7',
      '--machine',
      '--allow-masters',
      '--data-dir',
      dataDir,
      ...more,
    ]
    const made = await this.#host.run([launcher, ...words, '--server', server], {
      timeoutMs: 180_000,
    })
    assert.equal(made.exitCode, 0, made.stderr)
    assert.match(made.stderr, /It works for 24h, until 20/)
    this.line = this.countToken(made.stdout)
  }

  /** Lets the site on a machine make a line for a node. */
  async siteLine(site: TestMachine): Promise<string> {
    const command = ['skerry', 'token', 'create', '--print-join-command', '--machine']
    return this.countToken(await site.ask([...command, '--ttl', '10m'], { timeoutMs: 180_000 }))
  }

  /** Counts the token of a line among the texts that no process may show. Returns the line. */
  countToken(line: string): string {
    const token = /\b[a-z0-9]{6}\.[a-z0-9]{16}\b/.exec(line)?.[0]
    assert.ok(token !== undefined, 'the line has no token')
    assert.equal(line.trimEnd().split('\n').length, 1)
    this.#tokens.add(token)
    return line
  }

  /** Pastes a line into a shell of the machine, and looks at the arguments of all processes meanwhile. */
  async paste(machine: TestMachine, line: string): Promise<CommandResult> {
    const scope = { isOver: false }
    const pasted = machine
      .run(['sh'], { input: line, timeoutMs: 120_000 })
      .finally(() => (scope.isOver = true))
    await waitFor(
      'the line to end',
      async () => {
        await this.#lookAtArguments()
        return scope.isOver ? true : undefined
      },
      { timeoutMs: 130_000 },
    )
    return pasted
  }

  async #lookAtArguments(): Promise<void> {
    for (const pid of (await readdir('/proc')).filter((each) => /^\d+$/.test(each))) {
      // A process may end meanwhile.
      const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      this.#seenArguments.add(line.replaceAll('\0', ' '))
    }
  }

  /** Counts a text among those that no process may show, such as a password. */
  keepSecret(text: string): void {
    this.#tokens.add(`.......${text}`)
  }

  assertNoToken(): void {
    const seen = [...this.#seenArguments].join('\n')
    // Both are judged without a match, whose message would have the arguments of the whole host.
    assert.ok(/machine join-(node|site) --server/.test(seen), 'the line was not seen as it ran')
    const isShown = [...this.#tokens].some((token) => seen.includes(token.slice(7)))
    assert.ok(!isShown, 'a secret was seen in the arguments of a process')
  }

  /** Changes a byte in the middle of the largest file that machines fetch; resolves with its restoration. */
  async changePackedFile(): Promise<() => Promise<void>> {
    const directory = join(this.#directory, 'hub', 'programs')
    const engine = (await readdir(directory)).find((name) => /^node-.*\.gz$/.test(name))
    assert.ok(engine !== undefined, 'there is no packed engine')
    const path = join(directory, engine)
    const at = Math.floor((await stat(path)).size / 2)
    const write = async (byte: Buffer): Promise<Buffer> => {
      await using file = await open(path, 'r+')
      const old = Buffer.alloc(1)
      await file.read(old, 0, 1, at)
      await file.write(byte, 0, 1, at)
      return old
    }
    const old = await write(Buffer.from([7]))
    if (old[0] === 7) await write(Buffer.from([8]))
    return async () => void (await write(old))
  }

  /** Waits until a machine has fetched this many bytes of a file. */
  async untilFetched(machine: TestMachine, bytes: number): Promise<void> {
    const script = 'stat -c %s /usr/local/lib/skerry/download/* 2>/dev/null | sort -n | tail -n 1'
    await waitFor(`${bytes} bytes to be fetched`, async () =>
      Number(await machine.ask(['sh', '-c', script])) >= bytes ? true : undefined,
    )
  }

  /** Waits until the site does not sign its address with a token any more. */
  async untilForgotten(id: string): Promise<void> {
    await waitFor('the site to forget the token', async () => {
      const info = ['get', 'configmap', 'cluster-info', '-n', 'kube-public', '-o', 'yaml']
      return (await this.siteKubectl(...info)).includes(`jws-kubeconfig-${id}`) ? undefined : true
    })
  }

  /** Asks the cluster's own API, through the hub. */
  async siteKubectl(...args: string[]): Promise<string> {
    const admin = await readFile(join(this.#directory, 'hub', 'admin.kubeconfig'), 'utf8')
    const path = join(this.#directory, 'site.kubeconfig')
    const server = `https://${this.address}:7443/clusters/branch-7`
    await writeFile(path, admin.replace(/server: .*/, `server: ${server}`))
    const { exitCode, stdout, stderr } = await this.#ask(path, args)
    assert.equal(exitCode, 0, stderr)
    return stdout
  }

  #ask(kubeconfig: string, args: readonly string[]): Promise<CommandResult> {
    const env = { HOME: this.#directory, KUBECACHEDIR: join(this.#directory, 'kube-cache') }
    const command = [this.#kubectl, '--kubeconfig', kubeconfig, ...args]
    return this.#host.run(command, { timeoutMs: 30_000, env })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.network[Symbol.asyncDispose]()
    await rm(this.#directory, { recursive: true, force: true })
  }
}
