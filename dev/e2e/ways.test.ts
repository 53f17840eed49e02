/**
 * The test makes a cluster whose nodes the hub does not reach: one is in reach of the site alone, and a batch is behind
 * a jump host. In the batch one machine was never there, one dies in the middle, and the disk of one is full at first.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  startTestMachine,
  whyNoMachine,
  type CommandResult,
  type TestHost,
  type TestMachine,
} from '@skerry/testing'
import { EdgeHub, type SeenEdge } from './edge-hub.ts'
import { assertKeepsSecrets } from './keeps-secrets.ts'
import { whyNot } from './prerequisites.ts'

const skip = (await whyNot()) || (await whyNoMachine())
const [namespace, name] = ['edges', 'branch-7']
const key = [name, '--namespace', namespace]
const programs = '/usr/local/lib/skerry'

test('nodes by a jump host and by the site', { skip, timeout: 400_000 }, async (t) => {
  await using hub = await EdgeHub.start()
  const id = process.pid.toString(36)
  const hosts: TestHost[] = []
  for (const number of [11, 12, 13, 14]) hosts.push(await hub.network.addHost(number))
  const names = ['master', 'jumped', 'sited', 'dying'].map((role) => `${role}-${id}`)
  const started = hosts.map((host, at) => startTestMachine(host, names[at] ?? ''))
  await using stack = new AsyncDisposableStack()
  const machines = (await Promise.all(started)).map((machine) => stack.use(machine))
  const [master, jumped, sited, dying] = machines
  assert.ok(master && jumped && sited && dying)
  for (const host of hosts.slice(1)) await hideFrom(hub, host)
  const story = { hub, master, jumped, sited, dying }
  await hub.apply(manifest(story))
  await t.test('the machine behind the site becomes a Ready node', async () => {
    const edge = await hub.untilPhase('Ready')
    const order = edge.status.steps.map((step) => `${step.name} ${step.machine}`)
    const at = (step: string, { address }: TestMachine): number =>
      order.indexOf(`${step} ${address}`)
    assert.ok(at('SiteReady', master) < at('AllowDial', sited))
    assert.ok(at('AllowDial', sited) < at('Connect', sited))
  })
  await t.test('a batch through a jump host has a result for each machine, two at a time', () =>
    addsBatch(story),
  )
  await t.test(
    'dead machines leave, and the one with room on its disk becomes a node',
    async () => {
      await mends(story)
      const edge = await hub.untilPhase('Ready')
      assert.equal(jumpKey(edge), await master.hostKey())
      const nodes = await hub.siteKubectl('get', 'nodes', '-o', 'name')
      for (const each of names.slice(0, 3)) assert.ok(nodes.includes(`node/${each}\n`), nodes)
      assert.ok(!nodes.includes('dying'), nodes)
    },
  )
  await t.test('the site may dial the one machine, and nothing else', async () => {
    const allowed = await master.ask(['sh', '-c', 'head -n 9 /etc/skerry/allow-dial.d/*'])
    assert.equal(allowed, `${sited.address}:22\n`)
  })
  await t.test('no login of a machine or a jump host is written anywhere', () => {
    const roots = machines.map(({ passwords }) => passwords.root)
    return assertKeepsSecrets(hub, [master, jumped, sited], [...roots, master.passwords.keeper])
  })
  await t.test('a machine behind a jump host leaves on the same way, and is clean', async () => {
    succeeds(await hub.skerry('edge-cluster', 'remove-node', ...key, jumped.address, '--wait'))
    assert.equal((await jumped.run(['test', '-e', '/usr/local/bin/skerry'])).exitCode, 1)
    const nodes = await hub.siteKubectl('get', 'nodes', '-o', 'name')
    assert.ok(!nodes.includes('jumped'), nodes)
  })
  await t.test('a deletion cleans them before the site that leads to them', async () => {
    await hub.kubectl('delete', 'edgecluster', name, '-n', namespace, '--timeout=120s')
    for (const machine of [master, sited]) {
      assert.equal((await machine.run(['test', '-e', '/usr/local/bin/skerry'])).exitCode, 1)
    }
  })
})

/** Lets nothing of a host reach the hub, so that the hub's own dials have no answer. */
async function hideFrom({ server }: EdgeHub, host: TestHost): Promise<void> {
  const { hostname } = new URL(server)
  const { exitCode, stderr } = await host.run(['ip', 'route', 'add', 'blackhole', hostname])
  assert.equal(exitCode, 0, stderr)
}

function jumpKey({ status }: SeenEdge): string | undefined {
  return status.jumps?.[0]?.hostKey
}

interface Story extends Readonly<Record<'master' | 'jumped' | 'sited' | 'dying', TestMachine>> {
  readonly hub: EdgeHub
}

/** An address at which there has never been a machine. */
function deadAddress({ master }: Story): string {
  return master.address.replace(/\d+$/, '99')
}

async function addsBatch(story: Story): Promise<void> {
  const { hub, master, jumped, dying } = story
  // The program is larger.
  await jumped.ask(['mkdir', '-p', programs])
  await jumped.ask(['mount', '-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', programs])
  await hub.patchSpec({ retry: { attempts: 2 } })
  await using directory = await scratchDirectory()
  const file = join(directory.path, 'machines.csv')
  const dead = deadAddress(story)
  const lines = [
    'address,user,port,credentials,labels',
    `${dead}`,
    `${dying.address},,,dying,`,
    `${jumped.address},,,,tier=back`,
  ]
  await writeFile(file, `${lines.join('\n')}\n`)
  const gate = ['--jump', `keeper@${master.address}`, '--jump-credentials', 'gate']
  const keys = [
    '--host-key',
    `${master.address}=${await master.hostKey()}`,
    '--accept-new-host-keys',
  ]
  const batch = ['--from', file, '--credentials', 'jumped', '--at-once', '2', '--wait']
  const adding = hub.skerry('add', 'nodes', ...key, ...batch, ...gate, ...keys)
  await diesInTheMiddle(story)
  const { exitCode, stdout, stderr } = await adding
  assert.equal(exitCode, 1, stderr)
  assert.match(lineOf(stdout, dead), /Failed +Connect /)
  assert.match(lineOf(stdout, dying.address), /Failed +\w+ /)
  assert.match(lineOf(stdout, jumped.address), /Failed +InstallProgram +.*No space left on device/)
  assert.match(lineOf(stdout, master.address), /Ready/)
}

/** Ends a machine while it gets its program, and looks meanwhile how many are worked on. */
async function diesInTheMiddle({ hub, dying }: Story): Promise<void> {
  await hub.until('the program to be copied', async () => {
    const { steps } = (await hub.edge()).status
    const running = steps.filter(({ state }) => state === 'Running')
    assert.ok(running.length <= 2, running.map((step) => `${step.name}@${step.machine}`).join())
    return running.some((step) => step.name === 'InstallProgram' && step.machine === dying.address)
  })
  await dying[Symbol.asyncDispose]()
}

async function mends(story: Story): Promise<void> {
  const { hub, jumped, dying } = story
  succeeds(await hub.skerry('edge-cluster', 'remove-node', ...key, deadAddress(story)))
  succeeds(await hub.skerry('edge-cluster', 'remove-node', ...key, dying.address, '--dead'))
  await jumped.ask(['umount', programs])
  await hub.patchSpec({ retry: null })
  succeeds(await hub.skerry('edge-cluster', 'retry', ...key))
}

/** Returns the last line about a machine: that of the table of results. */
function lineOf(text: string, address: string): string {
  return text.split('\n').findLast((line) => line.startsWith(`${address} `)) ?? text
}

function succeeds({ exitCode, stdout, stderr }: CommandResult): void {
  assert.equal(exitCode, 0, `${stdout}${stderr}`)
}

async function scratchDirectory(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'skerry-ways-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}

function manifest({ hub: { server }, ...machines }: Story): string {
  const { master, sited } = machines
  const secrets = Object.entries(machines).map(([each, { passwords }]) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: each, namespace },
    stringData: { password: passwords.root },
  }))
  const block = (each: keyof typeof machines, { address }: TestMachine) => ({
    addresses: [address],
    credentials: { name: each },
    acceptNewHostKeys: true,
  })
  const spec = {
    hubServer: server,
    machines: [
      { ...block('master', master), role: 'Master' },
      { ...block('sited', sited), via: 'Site' },
    ],
  }
  const objects = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    ...secrets,
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'gate', namespace },
      stringData: { password: master.passwords.keeper },
    },
    {
      apiVersion: 'hub.skerry.io/v1alpha1',
      kind: 'EdgeCluster',
      metadata: { name, namespace },
      spec,
    },
  ]
  return objects.map((object) => JSON.stringify(object)).join('\n---\n')
}
