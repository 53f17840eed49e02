/**
 * A cluster with one master on SQLite grows: its store moves to etcd, and a second master and a witness join it. The second
 * one names itself Ubuntu and has its sources and its resolver, on a root of Debian.
 */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { startTestMachine, whyNoMachine, type TestMachine } from '@skerry/testing'
import { EdgeHub } from './edge-hub.ts'
import { etcdProgram, type Members } from './embedded-masters.ts'
import { changedBetween, leftOvers } from './left-overs.ts'
import { whyNot } from './prerequisites.ts'

const skip = (await whyNot()) || (await whyNoMachine())
const program = '/usr/local/bin/skerry'
const password = 'a password of all machines'
const credentials = { name: 'root-login' }

test('an edge cluster that grows', { skip, timeout: 800_000 }, async (t) => {
  await using hub = await EdgeHub.start([], { patienceMs: 400_000 })
  await using stack = new AsyncDisposableStack()
  const etcd = await readFile(await etcdProgram())
  const machines: TestMachine[] = []
  for (const number of [11, 12, 13]) {
    const host = await hub.network.addHost(number)
    const machine = stack.use(
      await startTestMachine(host, `g${number}-${process.pid.toString(36)}`),
    )
    const install = 'cat > /usr/local/bin/etcd; chmod 755 /usr/local/bin/etcd'
    await machine.ask(['sh', '-c', install], { input: etcd })
    await machine.ask(['chpasswd'], { input: `root:${password}\n` })
    machines.push(machine)
  }
  const [first, second, witness] = machines
  assert.ok(first && second && witness)
  await becomeUbuntu(second)
  const before = await Promise.all(machines.map((machine) => leftOvers(machine)))
  await t.test('one master on a file becomes Ready, and keeps an object', async () => {
    await hub.kubectl('create', 'namespace', 'edges')
    await hub.setSecret('root-login', { password })
    await hub.apply(manifest(hub, [blockOf(first, 'Master')]))
    await hub.untilPhase('Ready')
    await hub.siteKubectl('create', 'configmap', 'kept', '--from-literal=a=b')
  })
  await t.test(
    'it has two masters and a witness afterwards, and still has the object',
    async () => {
      const blocks = [
        blockOf(first, 'Master'),
        blockOf(second, 'Master'),
        blockOf(witness, 'Witness'),
      ]
      await hub.patchSpec({ store: { type: 'Etcd' }, machines: blocks })
      await hub.until('three members to answer', async () => {
        const edge = await hub.edge()
        if (edge.status.phase !== 'Ready') return false
        assert.match(hub.step(edge, 'Preflight', second).message, /^ubuntu 24\.04, /)
        const { stdout, exitCode } = await first.run([program, 'site', 'members', '-o', 'json'])
        if (exitCode !== 0) return false
        // The program's own JSON.
        const { state, members } = JSON.parse(stdout) as Members
        return state === 'quorum: 3 of 3 members answer' && members.some((each) => each.isWitness)
      })
      const kept = ['get', 'configmap', 'kept', '-o', 'jsonpath={.data.a}']
      assert.equal(await hub.siteKubectl(...kept), 'b')
      const nodes = await hub.siteKubectl('get', 'nodes', '-o', 'name')
      assert.equal(nodes.trim().split('\n').length, 2, 'the witness is no node')
      const units = await witness.ask([
        'systemctl',
        'list-units',
        '--plain',
        '--no-legend',
        'skerry*',
      ])
      assert.match(units, /skerry-witness\.service\s+loaded active/)
    },
  )
  await t.test('a deletion leaves nothing on the machines', async () => {
    await hub.kubectl('delete', 'edgecluster', 'branch-7', '-n', 'edges', '--timeout=180s')
    for (const [at, machine] of machines.entries()) {
      assert.deepEqual(changedBetween(before[at] ?? [], await leftOvers(machine)), [])
    }
  })
})

/** Gives a machine the files by which Ubuntu differs for us: its name, sources in another form, and a resolver on loopback. */
async function becomeUbuntu(machine: TestMachine): Promise<void> {
  const files = {
    '/etc/os-release':
      'NAME="Ubuntu"\nVERSION_ID="24.04"\nVERSION_CODENAME=noble\nID=ubuntu\nID_LIKE=debian\n',
    '/etc/apt/sources.list.d/ubuntu.sources':
      'Types: deb\nURIs: http://archive.ubuntu.com/ubuntu/\nSuites: noble noble-updates\nComponents: main universe\nSigned-By: /usr/share/keyrings/ubuntu-archive-keyring.gpg\n',
    '/run/systemd/resolve/resolv.conf': 'nameserver 192.0.2.53\n',
    '/etc/resolv.conf': 'nameserver 127.0.0.53\noptions edns0 trust-ad\nsearch .\n',
  }
  for (const [path, content] of Object.entries(files)) {
    const script = 'mkdir -p "$(dirname "$1")"; rm -f "$1"; cat > "$1"'
    await machine.ask(['sh', '-c', script, 'sh', path], { input: content })
  }
}

function blockOf({ address }: TestMachine, role: 'Master' | 'Witness'): object {
  return { addresses: [address], role, credentials, acceptNewHostKeys: true }
}

function manifest({ server }: EdgeHub, machines: readonly object[]): string {
  return JSON.stringify({
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'EdgeCluster',
    metadata: { name: 'branch-7', namespace: 'edges' },
    spec: { hubServer: server, machines },
  })
}
