import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MachineStatus } from '../kind/edge-cluster.ts'
import { StepError } from '../contract/step.ts'
import { fakeShell } from '../testing/fake-shell.ts'
import { contextOn } from '../testing/target-scene.ts'
import { takeNodeName } from './node-name.ts'

const shells = { '10.0.0.2': fakeShell(() => ({ stdout: 'Shop-7\n' })) }
const own: MachineStatus = { address: '10.0.0.2', role: 'Node' }

test('a machine has the name of its host, and keeps it', async () => {
  const known = [own]
  const context = contextOn('10.0.0.2', { known, shells })
  assert.equal(await takeNodeName(context), 'shop-7')
  assert.equal(known[0]?.node, 'shop-7')
  assert.equal(await takeNodeName(context), 'shop-7')
})

const taken: readonly [owner: string, isFinal: boolean, message: RegExp][] = [
  ['10.0.0.1', true, /is that of 10\.0\.0\.1 as well: give one of them another host name/],
  ['10.0.0.9', false, /is still that of 10\.0\.0\.9, which leaves the cluster/],
]
for (const [address, isFinal, message] of taken) {
  test(`a name of ${address} ${isFinal ? 'is refused' : 'is free once that has left'}`, async () => {
    const known: MachineStatus[] = [own, { address, role: 'Node', node: 'shop-7', isChanged: true }]
    await assert.rejects(takeNodeName(contextOn('10.0.0.2', { known, shells })), (error) => {
      assert.ok(error instanceof StepError)
      assert.match(error.message, message)
      assert.equal(error.isFinal, isFinal)
      return true
    })
    assert.equal(known[0]?.node, undefined)
  })
}

test('a machine that was only looked at has no node, and keeps no name from others', async () => {
  const known: MachineStatus[] = [own, { address: '10.0.0.1', role: 'Master', node: 'shop-7' }]
  assert.equal(await takeNodeName(contextOn('10.0.0.2', { known, shells })), 'shop-7')
})
