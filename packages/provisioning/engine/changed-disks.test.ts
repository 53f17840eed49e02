import assert from 'node:assert/strict'
import { test } from 'node:test'
import { machinesOf } from '../kind/machine-addresses.ts'
import type { Shell } from '../contract/shell.ts'
import { fakeShell } from '../testing/fake-shell.ts'
import { ChangedDisks } from './changed-disks.ts'

const credentials = { name: 'ssh' }
const [machine] = machinesOf({ machines: [{ addresses: ['a'], credentials }] })
const { signal } = new AbortController()
const file = { from: '/tmp/x', sha256: 'a'.repeat(64), bytes: 1 }

const works: readonly [
  what: string,
  work: (shell: Shell) => Promise<unknown>,
  isSynced: boolean,
][] = [
  ['opens a machine', async () => undefined, false],
  ['looks', (shell) => shell.run(['cat', '/x'], { keepsFiles: true }), false],
  ['runs a command', (shell) => shell.run(['touch', '/x']), true],
  ['runs a command with other options', (shell) => shell.run(['tee'], { input: 'x' }), true],
  ['writes a file', (shell) => shell.write('/x', '', 0o600), true],
  ['copies a file', (shell) => shell.upload('/x', '/x', 0o600, signal), true],
  ['copies files by digest', (shell) => shell.uploadByDigest([file], '/x', signal), true],
  ['finds that no file lacks', (shell) => shell.uploadByDigest([], '/x', signal), false],
]
for (const [what, work, isSynced] of works) {
  for (const isRepeated of [false, true]) {
    const again = isRepeated ? ', again,' : ''
    test(`the disk is ${isSynced || isRepeated ? '' : 'not '}synced for a step that${again} ${what}`, async () => {
      assert.ok(machine)
      const shell = fakeShell()
      const disks = new ChangedDisks(isRepeated)
      await work(disks.watch(machine, shell))
      await disks.outliveCuts(signal)
      const syncs = shell.commands.filter(([program]) => program === 'sync')
      assert.equal(syncs.length, isSynced || isRepeated ? 1 : 0)
    })
  }
}

test('each machine that a step has changed is synced, and a disk that refuses fails the step', async () => {
  const machines = machinesOf({ machines: [{ addresses: ['a', 'b', 'c'], credentials }] })
  const full = fakeShell(([program]) =>
    program === 'sync'
      ? { exitCode: 1, stderr: 'sync: /var/lib: Input/output error\n' }
      : undefined,
  )
  const shells = [fakeShell(), fakeShell(), full]
  const disks = new ChangedDisks(false)
  const watched = machines.map((each, at) => disks.watch(each, shells[at] ?? full))
  for (const each of watched.slice(1)) await each.write('/x', '', 0o600)
  await assert.rejects(disks.outliveCuts(signal), /cannot write to its disk: .*Input\/output error/)
  assert.deepEqual(
    shells.map(({ commands }) => commands.length),
    [0, 1, 1],
  )
})
