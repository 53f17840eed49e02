/** The newcomer's way: up, kubectl through the hub, down, up again, reset. */
import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  createTestNetwork,
  unpackClients,
  type CommandResult,
  type TestHost,
  type TestNetwork,
} from '@skerry/testing'
import { exampleArchives } from './example-archives.ts'
import { fetchPage, fetchText } from './guestbook-page.ts'
import { whyNot } from './prerequisites.ts'
import { waitFor } from './wait-for.ts'

const root = join(import.meta.dirname, '..')
const manifest = join(root, 'examples', 'guestbook', 'guestbook.yaml')
/** Unique on the machine: the cgroups of its pods are named after it. */
const nodeName = `up-${process.pid.toString(36)}`

test('skerry up', { skip: await whyNot(), timeout: 400_000 }, async (t) => {
  await using machine = await Machine.start()
  await t.test('brings up hub, site, node and tunnel', () => comesUp(machine))
  await t.test('says what runs', () => tellsStatus(machine))
  await t.test('is not started twice', () => refusesSecond(machine))
  await t.test('runs the guestbook through the hub', () => runsGuestbook(machine))
  await t.test('heals when each of its processes is killed', () => heals(machine))
  await t.test('goes down without the pods, and comes up with everything', () => resumes(machine))
  await t.test('leaves nothing behind when reset', () => leavesNothing(machine))
})

/** One host, and the program in it as a person calls it. */
class Machine implements AsyncDisposable {
  readonly network: TestNetwork
  readonly host: TestHost
  readonly client: TestHost
  readonly dataDir: string
  readonly #directory: string
  readonly #kubectl: string

  private constructor(parts: {
    network: TestNetwork
    host: TestHost
    client: TestHost
    directory: string
    kubectl: string
  }) {
    this.network = parts.network
    this.host = parts.host
    this.client = parts.client
    this.#directory = parts.directory
    this.dataDir = join(parts.directory, 'data')
    this.#kubectl = parts.kubectl
  }

  static async start(): Promise<Machine> {
    const { kubectl } = await unpackClients()
    const directory = await mkdtemp(join(tmpdir(), 'skerry-e2e-up-'))
    const network = await createTestNetwork()
    const host = await network.addHost(1)
    const client = await network.addHost(2)
    return new Machine({ network, host, client, directory, kubectl })
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
    return this.withData('up', '--detach', '--no-install', '--node-name', nodeName)
  }

  /** In the context of the cluster: to the hub, and through the tunnel. */
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

  async [Symbol.asyncDispose](): Promise<void> {
    await this.network[Symbol.asyncDispose]()
    await rm(this.#directory, { recursive: true, force: true })
  }
}

async function expectSuccess(running: Promise<CommandResult>): Promise<string> {
  const { stdout, stderr, exitCode } = await running
  assert.equal(exitCode, 0, stderr + stdout)
  return stdout
}

async function comesUp(machine: Machine): Promise<void> {
  const output = await expectSuccess(machine.up())
  assert.match(output, /Ready in \d+\.\d s\. Contexts in .*kubeconfig: hub, edge/)
  assert.match(await machine.kubectl('get', 'nodes'), new RegExp(`${nodeName} +Ready`))
  const clusters = await machine.inContext('hub', ['get', 'clusters'])
  assert.match(clusters.stdout, /^edge .*True/m, clusters.stderr)
}

async function tellsStatus(machine: Machine): Promise<void> {
  const output = await expectSuccess(machine.withData('status', '-o', 'json'))
  // The program's own JSON.
  const report = JSON.parse(output) as { lines: { part: string; name: string; state: string }[] }
  assert.deepEqual(
    report.lines.map(({ part, name, state }) => `${part} ${name} ${state}`),
    ['hub hub ready', 'tunnel edge connected', 'site edge ready', `node ${nodeName} ready`],
  )
}

async function refusesSecond(machine: Machine): Promise<void> {
  const { exitCode, stderr } = await machine.up()
  assert.equal(exitCode, 8)
  assert.match(stderr, /^skerry: Cannot start: skerry is already running as process \d+;.*\n$/)
}

async function runsGuestbook(machine: Machine): Promise<void> {
  const archives = await exampleArchives()
  for (const archive of await readdir(archives)) {
    const nodeDir = join(machine.dataDir, 'node')
    await expectSuccess(
      machine.skerry('image import', join(archives, archive), '--node-dir', nodeDir),
    )
  }
  await machine.kubectl('apply', '-f', manifest)
  await machine.kubectl(
    'rollout',
    'status',
    '-n',
    'guestbook',
    'statefulset/redis',
    '--timeout=60s',
  )
  await machine.kubectl('rollout', 'status', '-n', 'guestbook', 'deployment/web', '--timeout=60s')
  const page = await visit(machine)
  assert.equal(page.visits, 1)
  const said = await machine.inContext(
    'edge',
    ['exec', '-i', '-n', 'guestbook', 'redis-0', '--', 'cat'],
    'through the tunnel',
  )
  assert.equal(said.stdout, 'through the tunnel', said.stderr)
  assert.match(
    await machine.kubectl('logs', '-n', 'guestbook', 'redis-0'),
    /Ready to accept connections/,
  )
}

function visit(machine: Machine): ReturnType<typeof fetchPage> {
  return waitFor('the page', () => fetchPage(machine.client, `${machine.host.address}:30080`))
}

async function heals(machine: Machine): Promise<void> {
  const before = await containers(machine)
  const visits = (await visit(machine)).visits
  for (const role of ['hub', 'site', 'node']) {
    const pid = await pidOf(machine, role)
    process.kill(pid, 'SIGKILL')
    await waitFor(`another ${role}`, async () =>
      (await pidOf(machine, role)) === pid ? undefined : true,
    )
    await waitFor(`kubectl through the hub after the ${role} was killed`, async () =>
      (await machine.inContext('edge', ['get', 'nodes'])).stdout.includes(' Ready ')
        ? true
        : undefined,
    )
    await visit(machine)
  }
  assert.deepEqual(await containers(machine), before)
  assert.ok((await visit(machine)).visits > visits)
}

/** The role's process is a child of the supervisor's, with the role as its argument. */
async function pidOf(machine: Machine, role: string): Promise<number> {
  const supervisor = (await readFile(join(machine.dataDir, 'up.pid'), 'utf8')).match(/\d+/)?.[0]
  const { stdout } = await machine.host.run(['ps', '-o', 'pid=,args=', '--ppid', supervisor ?? ''])
  const line = stdout.split('\n').find((each) => each.includes(` ${role} --data-dir`))
  if (line === undefined) throw new Error(`Cannot find ${role} below ${supervisor}:\n${stdout}`)
  return Number.parseInt(line, 10)
}

/** Ids and restarts of the lasting pods' containers; the CronJob's come and go. */
async function containers(machine: Machine): Promise<string> {
  const path =
    '{range .items[*].status.containerStatuses[*]}{.containerID} {.restartCount}{"\\n"}{end}'
  const selector = 'app in (web,redis)'
  return machine.kubectl('get', 'pods', '-n', 'guestbook', '-l', selector, '-o', `jsonpath=${path}`)
}

async function resumes(machine: Machine): Promise<void> {
  const before = await containers(machine)
  const visits = (await visit(machine)).visits
  assert.equal(await expectSuccess(machine.withData('down')), 'Stopped.\n')
  const health = `http://${machine.host.address}:30080/healthz`
  assert.equal(await fetchText(machine.client, health), 'ok\n')
  await expectSuccess(machine.up())
  assert.ok((await visit(machine)).visits > visits)
  assert.equal(await containers(machine), before)
}

async function leavesNothing(machine: Machine): Promise<void> {
  assert.equal((await machine.withData('reset')).exitCode, 2)
  assert.equal(await expectSuccess(machine.withData('reset', '--yes')), 'Nothing is left.\n')
  const { stdout: processes } = await machine.host.run(['ps', '-eo', 'args='])
  assert.doesNotMatch(processes, new RegExp(machine.dataDir))
  const { stdout: mounts } = await machine.host.run(['cat', '/proc/self/mounts'])
  assert.doesNotMatch(mounts, new RegExp(`${machine.dataDir}|/run/skerry`))
  assert.equal((await machine.host.run(['nft', 'list', 'ruleset'])).stdout, '')
  const { stdout: links } = await machine.host.run(['ip', '-o', 'link'])
  assert.deepEqual(
    links
      .trim()
      .split('\n')
      .map((line) => line.split(/[ :@]+/)[1]),
    ['lo', 'eth0'],
  )
  assert.doesNotMatch((await machine.host.run(['ip', 'address'])).stdout, /10\.4[23]\./)
  assert.doesNotMatch(
    (await machine.host.run(['ip', 'route', 'show', 'table', 'all'])).stdout,
    /10\.4[23]\./,
  )
  for (const path of [machine.dataDir, '/sys/fs/cgroup/memory/skerry/' + nodeName]) {
    await assert.rejects(stat(path), { code: 'ENOENT' })
  }
  assert.equal((await machine.host.run(['ls', '/run/skerry'])).exitCode, 2)
}
