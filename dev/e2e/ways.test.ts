/** Makes a cluster whose nodes the hub does not reach: one is behind a jump host, one only in reach of the site. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestMachine, whyNoMachine, type TestHost, type TestMachine } from '@skerry/testing'
import { EdgeHub, type SeenEdge } from './edge-hub.ts'
import { whyNot } from './prerequisites.ts'

const skip = (await whyNot()) || (await whyNoMachine())
const [namespace, name] = ['edges', 'branch-7']

test('nodes by a jump host and by the site', { skip, timeout: 400_000 }, async (t) => {
  await using hub = await EdgeHub.start()
  const id = process.pid.toString(36)
  const hosts: TestHost[] = []
  for (const number of [11, 12, 13]) hosts.push(await hub.network.addHost(number))
  const names = ['master', 'jumped', 'sited'].map((role) => `${role}-${id}`)
  const started = hosts.map((host, at) => startTestMachine(host, names[at] ?? ''))
  await using stack = new AsyncDisposableStack()
  const machines = (await Promise.all(started)).map((machine) => stack.use(machine))
  const [master, jumped, sited] = machines
  assert.ok(master && jumped && sited)
  for (const host of hosts.slice(1)) await hideFrom(hub, host)
  await hub.apply(await manifest(hub, { master, jumped, sited }))
  await t.test('both become Ready nodes', async () => {
    const edge = await hub.untilPhase('Ready')
    const order = edge.status.steps.map((step) => `${step.name} ${step.machine}`)
    const at = (step: string, { address }: TestMachine): number =>
      order.indexOf(`${step} ${address}`)
    assert.ok(at('SiteReady', master) < at('AllowDial', sited))
    assert.ok(at('AllowDial', sited) < at('Connect', sited))
    assert.equal(jumpKey(edge), await master.hostKey())
    const nodes = await hub.siteKubectl('get', 'nodes', '-o', 'name')
    for (const each of names) assert.ok(nodes.includes(`node/${each}\n`), nodes)
  })
  await t.test('the site may dial the one machine, and nothing else', async () => {
    const allowed = await master.ask(['sh', '-c', 'head -n 9 /etc/skerry/allow-dial.d/*'])
    assert.equal(allowed, `${sited.address}:22\n`)
  })
  await t.test('a deletion cleans them before the site that leads to them', async () => {
    await hub.kubectl('delete', 'edgecluster', name, '-n', namespace, '--timeout=120s')
    for (const machine of machines) {
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

async function manifest(
  { server }: EdgeHub,
  machines: Readonly<Record<'master' | 'jumped' | 'sited', TestMachine>>,
): Promise<string> {
  const { master, jumped, sited } = machines
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
  const gate = { address: master.address, user: 'keeper', credentials: { name: 'gate' } }
  const spec = {
    hubServer: server,
    machines: [
      { ...block('master', master), role: 'Master' },
      { ...block('jumped', jumped), jump: { ...gate, hostKeys: [await master.hostKey()] } },
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
