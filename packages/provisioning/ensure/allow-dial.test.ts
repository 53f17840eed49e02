import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MachineStatus } from '../kind/edge-cluster.ts'
import { fakeShell } from '../testing/fake-shell.ts'
import { contextOn } from '../testing/target-scene.ts'
import { allowDial, forbidDial } from './allow-dial.ts'

test('the file of a machine on the master lets the site dial it, and goes again', async () => {
  const master = fakeShell()
  const known: MachineStatus[] = [{ address: '10.0.0.2', role: 'Node' }]
  const context = contextOn('10.0.0.2', { known, shells: { '10.0.0.1': master } })
  await allowDial(context)
  assert.deepEqual([...master.files], [['/etc/skerry/allow-dial.d/10.0.0.2', '10.0.0.2:22\n']])
  assert.equal(known[0]?.isDialled, true)
  await forbidDial(context)
  assert.deepEqual([...master.files], [])
  assert.equal(known[0]?.isDialled, false)
})

test('a machine whose file may be there is known as one, though the master did not answer', async () => {
  const known: MachineStatus[] = [{ address: '10.0.0.2', role: 'Node' }]
  await assert.rejects(allowDial(contextOn('10.0.0.2', { known, shells: {} })), /nobody is there/)
  assert.equal(known[0]?.isDialled, true)
})
