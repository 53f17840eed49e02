import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ShellError } from '../contract/shell.ts'
import { stepScene } from '../testing/step-scene.ts'
import { machineClashes, machineIdDigest, nodeClashes, nodesOfSite } from './preflight-clashes.ts'

const id = 'a'.repeat(32)
const digest = machineIdDigest(id)
const own = { address: '10.0.0.12', node: 'shop', machineIdDigest: digest }

test('a machine id is compared without being shown', () => {
  assert.match(digest ?? '', /^[0-9a-f]{16}$/)
  assert.equal(machineIdDigest('uninitialized'), undefined)
  assert.equal(machineIdDigest(''), undefined)
})

test('machines of one name or one machine id clash, and each finding names the other', () => {
  const node = (address: string, facts: object) => ({ address, role: 'Node' as const, ...facts })
  const found = machineClashes(own, [
    node('10.0.0.11', { node: 'shop', machineIdDigest: 'b'.repeat(16) }),
    node('10.0.0.12', { node: 'shop', machineIdDigest: digest }),
    node('10.0.0.13', { node: 'other', machineIdDigest: digest }),
    node('10.0.0.14', {}),
  ])
  assert.equal(found.length, 2)
  assert.match(found[0] ?? '', /host name shop is that of 10\.0\.0\.11, too: .*hostnamectl/)
  assert.match(
    found[1] ?? '',
    /machine id is that of 10\.0\.0\.13, too: .*systemd-machine-id-setup/,
  )
})

test('two machines without a machine id do not clash by that', () => {
  const known = [{ address: 'b', role: 'Node' as const, node: 'b' }]
  assert.deepEqual(machineClashes({ ...own, machineIdDigest: undefined }, known), [])
})

test('a node at an address of the machine is the machine itself; one elsewhere clashes', () => {
  const node = { name: 'shop', machineIdDigest: digest, addresses: ['10.0.0.12'] }
  assert.deepEqual(nodeClashes(own, [node], ['127.0.0.1', '10.0.0.12']), [])
  assert.equal(nodeClashes(own, [node], ['10.0.0.99']).length, 2)
})

const ready = { steps: [{ name: 'SiteReady', machine: '10.0.0.11', state: 'Done' as const }] }
const answers: readonly [string, number][] = [
  [JSON.stringify([{ name: 'a', machineId: id, addresses: ['10.0.0.1', 7] }]), 1],
  ['[1, null, {}, {"name": 7}]', 0],
  ['nonsense', 0],
  ['{}', 0],
]
for (const [stdout, count] of answers) {
  test(`the answer ${stdout.slice(0, 30)} of a master has ${count} nodes`, async () => {
    const { context } = stepScene({ status: ready, answer: () => ({ stdout }) })
    const nodes = await nodesOfSite(context)
    assert.equal(nodes.length, count)
    if (count > 0)
      assert.deepEqual(nodes[0], { name: 'a', machineIdDigest: digest, addresses: ['10.0.0.1'] })
  })
}

test('before there is a site, and while its master is away, no node is known', async () => {
  const { context, shell } = stepScene()
  assert.deepEqual(await nodesOfSite(context), [])
  assert.deepEqual(shell.commands, [])
  const away = stepScene({ status: ready })
  const shellOf = async (): Promise<never> => {
    throw new ShellError('unreachable', 'nobody is there')
  }
  assert.deepEqual(await nodesOfSite({ ...away.context, shellOf }), [])
  assert.match(away.printed.join(), /nobody is there/)
})
