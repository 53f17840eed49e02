/** Makes three masters with a virtual IP of machines that reach nothing but their hub: the package brings their etcd, too. */
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startTestMachine, whyNoMachine, type TestMachine } from '@skerry/testing'
import { EdgeHub } from './edge-hub.ts'
import { edgeManifest } from './edge-manifest.ts'
import type { Members } from './embedded-masters.ts'
import { assertKeepsSecrets } from './keeps-secrets.ts'
import { buildPackage, makeOperatorKey, type BuiltPackage } from './offline-packages.ts'
import { assertHasOnlyHub } from './only-hub.ts'
import { whyNot } from './prerequisites.ts'

const skip = (await whyNot()) || (await whyNoMachine())
const password = 'a password of all masters'

test('three masters that reach nothing but their hub', { skip, timeout: 900_000 }, async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-e2e-offline-masters-'))
  await using stack = new AsyncDisposableStack()
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const key = await makeOperatorKey(directory)
  await mkdir(join(directory, 'packages'))
  const image = 'guestbook-v1.tar'
  const offline = await buildPackage('masters', image, { directory, key, more: ['--etcd'] })
  const packages = ['--package', join(directory, 'packages')]
  const hub = stack.use(await EdgeHub.start(packages, { patienceMs: 500_000 }))
  const machines: TestMachine[] = []
  for (const number of [11, 12, 13]) {
    const host = await hub.network.addHost(number)
    const name = `o${number}-${process.pid.toString(36)}`
    const machine = stack.use(await startTestMachine(host, name, { isBare: true }))
    await machine.ask(['chpasswd'], { input: `root:${password}\n` })
    machines.push(machine)
  }
  const story = { hub, machines, offline }
  await t.test('no machine has an etcd, and none reaches a mirror', () => haveNothing(story))
  await t.test('they become masters, each of which runs the etcd of the package', () =>
    becomeReady(story),
  )
  await t.test('no login is written anywhere', () => assertKeepsSecrets(hub, machines, [password]))
  await t.test('a deletion leaves no part of the package', async () => {
    await hub.kubectl('delete', 'edgecluster', 'branch-7', '-n', 'edges', '--timeout=180s')
    for (const machine of machines) {
      assert.notEqual((await machine.run(['test', '-e', '/var/lib/skerry'])).exitCode, 0)
      assert.equal((await machine.run(['pgrep', '-x', 'etcd'])).stdout, '')
    }
  })
})

interface Story {
  readonly hub: EdgeHub
  readonly machines: readonly TestMachine[]
  readonly offline: BuiltPackage
}

async function haveNothing({ machines }: Story): Promise<void> {
  for (const machine of machines) {
    await assertHasOnlyHub(machine, ['etcd', 'keepalived', 'containerd'])
  }
}

function manifest({ hub, machines, offline }: Story): string {
  return edgeManifest(
    hub,
    { password },
    {
      package: { digest: offline.digest, publicKey: offline.publicKey },
      store: { type: 'Etcd' },
      highAvailability: {
        type: 'VirtualIP',
        address: hub.host.address.replace(/\d+$/, '50'),
      },
      machines: [
        {
          addresses: machines.map(({ address }) => address),
          role: 'Master',
          acceptNewHostKeys: true,
          credentials: { name: 'login' },
        },
      ],
    },
  )
}

async function becomeReady(story: Story): Promise<void> {
  const { hub, machines } = story
  await hub.apply(manifest(story))
  const edge = await hub.untilPhase('Ready')
  for (const machine of machines) {
    assert.equal(hub.step(edge, 'InstallPackage', machine).attempt, 1)
    // The program's own JSON.
    const told = await machine.ask(['skerry', 'site', 'members', '-o', 'json'])
    const seen = JSON.parse(told) as Members
    assert.equal(seen.state, 'quorum: 3 of 3 members answer')
    const pid = (await machine.ask(['pgrep', '-x', 'etcd'])).trim()
    const path = (await machine.ask(['readlink', `/proc/${pid}/exe`])).trim()
    assert.match(path, /^\/var\/lib\/skerry\/etcd-program\/3\.\d+\.\d+\/etcd$/)
  }
  const nodes = await hub.siteKubectl('get', 'nodes', '-o', 'name')
  assert.equal(nodes.trim().split('\n').length, 3)
}
