import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MachineStatus } from '../kind/edge-cluster.ts'
import { StepError } from '../contract/step.ts'
import type { RunResult } from '../contract/shell.ts'
import { fakeShell, type FakeAnswer, type FakeShell } from '../testing/fake-shell.ts'
import { contextOn } from '../testing/target-scene.ts'
import { cordonNode, deleteNode, drainNode, stopNode } from './leave-node.ts'

const leaving: MachineStatus = {
  address: '10.0.0.9',
  role: 'Node',
  isChanged: true,
  node: 'shop-9',
}
const ran = ({ commands }: FakeShell): string[] => commands.map((words) => words.join(' '))
const machineWords = (shell: FakeShell): string[] =>
  ran(shell).flatMap((text) => text.split(' machine ')[1] ?? [])
/** Answers commands that begin with these words. */
const answering =
  (start: string, result: Partial<RunResult>): FakeAnswer =>
  (words) =>
    words.join(' ').startsWith(start) ? result : undefined

/** A machine with a site and a node. */
function machineOf(answer?: FakeAnswer): FakeShell {
  const shell = fakeShell(answer)
  shell.files.set('/var/lib/skerry/site/admin.kubeconfig', 'of the administrator')
  shell.files.set('/etc/systemd/system/skerry-node.service', 'the unit')
  return shell
}

test('the master cordons, drains and deletes the node of a machine that nobody opens', async () => {
  const master = machineOf()
  const known = [leaving]
  const context = contextOn('10.0.0.9', { known, shells: { '10.0.0.1': master } })
  assert.equal(await cordonNode(context), 'node shop-9 gets no further pods')
  assert.equal(known[0]?.isCordoned, true)
  assert.equal(await drainNode(context), 'no pod of others runs on node shop-9')
  assert.equal(await deleteNode(context), 'node shop-9 is gone')
  assert.deepEqual(machineWords(master), [
    'drain-node shop-9 --cordon-only',
    'drain-node shop-9 --timeout 120s',
    'delete-node shop-9',
  ])
})

test('a dead machine is deleted with its pods', async () => {
  const master = machineOf()
  const known = [{ ...leaving, isDead: true }]
  const context = contextOn('10.0.0.9', { known, shells: { '10.0.0.1': master } })
  assert.equal(await deleteNode(context), 'node shop-9 and its pods are gone')
  assert.deepEqual(machineWords(master), ['delete-node shop-9 --with-pods'])
})

test('a budget that keeps a pod is the message of the step, which may be tried again', async () => {
  const why =
    'skerry: Cannot drain node shop-9: pod default/web may not be evicted: The disruption budget web needs 1 healthy pods and has 1 currently'
  const master = machineOf(
    answering('/usr/local/bin/skerry machine drain-node', { exitCode: 1, stderr: `${why}\n` }),
  )
  const context = contextOn('10.0.0.9', { known: [leaving], shells: { '10.0.0.1': master } })
  await assert.rejects(drainNode(context), (error) => {
    assert.ok(error instanceof StepError && !error.isFinal)
    assert.match(error.message, /pod default\/web may not be evicted: The disruption budget web/)
    return true
  })
})

const nothingToDo: readonly [what: string, known: MachineStatus[], result: RegExp][] = [
  ['never had a node', [{ address: '10.0.0.9', role: 'Node' }], /never had a node/],
  [
    'has lost its name to another one',
    [leaving, { address: '10.0.0.2', role: 'Node', node: 'shop-9', isChanged: true }],
    /node shop-9 is that of 10\.0\.0\.2 now/,
  ],
]
for (const [what, known, result] of nothingToDo) {
  test(`the site is not asked for a machine that ${what}`, async () => {
    const master = machineOf()
    const context = contextOn('10.0.0.9', { known, shells: { '10.0.0.1': master } })
    assert.match(await drainNode(context), result)
    assert.match(await deleteNode(context), result)
    assert.deepEqual(master.commands, [])
  })
}

test('a master without a site has no node to remove', async () => {
  const master = fakeShell()
  const context = contextOn('10.0.0.9', { known: [leaving], shells: { '10.0.0.1': master } })
  assert.match(await deleteNode(context), /10\.0\.0\.1 has no site/)
  assert.deepEqual(machineWords(master), [])
})

test('the agent of a node is stopped for this boot and the next; a machine without one is left alone', async () => {
  const shell = machineOf()
  const shells = { '10.0.0.9': shell }
  assert.equal(
    await stopNode(contextOn('10.0.0.9', { known: [leaving], shells })),
    'the node has stopped',
  )
  assert.equal(ran(shell).at(-1), 'systemctl disable --now --quiet skerry-node.service')
  const bare = { '10.0.0.9': fakeShell() }
  const context = contextOn('10.0.0.9', { known: [leaving], shells: bare })
  assert.equal(await stopNode(context), 'the machine has no node')
  assert.ok(bare['10.0.0.9'].commands.every(([program]) => program !== 'systemctl'))
})
