import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedClock } from '@skerry/base'
import { ShellError, type Shell } from '../contract/shell.ts'
import type { Step } from '../contract/step.ts'
import type { MachineStatus } from '../kind/edge-cluster.ts'
import { machinesOf } from '../kind/machine-addresses.ts'
import { fakeShell } from '../testing/fake-shell.ts'
import { Masters } from './masters.ts'

const credentials = { name: 'ssh' }
const machines = machinesOf({
  machines: [{ addresses: ['a', 'b', 'c'], credentials, role: 'Master' }],
})
const known: MachineStatus[] = machines.map(({ address, role }, at) => ({
  address,
  role,
  site: at === 0 ? 'Founds' : 'Joins',
  member: address,
}))
const soon = (): AbortSignal => AbortSignal.timeout(60_000)
const step = { name: 'X', does: 'work', needs: [], place: 'machines' } as unknown as Step
const [first, second] = machines

/** The masters whose machines are away, and those whose site is silent. */
function scene({ away = [], silent = [] }: { away?: string[]; silent?: string[] }) {
  const opened: string[] = []
  const clock = simulatedClock()
  const shells = {
    async open({ address }: { address: string }): Promise<Shell> {
      opened.push(address)
      if (away.includes(address)) throw new ShellError('unreachable', 'nobody answers')
      return fakeShell(() => ({ exitCode: silent.includes(address) ? 1 : 0 }))
    },
    forget: async () => undefined,
  }
  const masters = new Masters({ machines, book: { machines: known }, shells, clock })
  const choose = async (machine = second): Promise<string | undefined> =>
    (await masters.choose({ machine, step }, soon()))?.address
  return { choose, opened, clock, away, silent, masters }
}

test('the first master that serves answers for the others', async () => {
  assert.equal(await scene({}).choose(undefined), 'a')
  assert.equal(await scene({ away: ['a'] }).choose(), 'c')
  assert.equal(await scene({ silent: ['a', 'c'] }).choose(), 'b')
})

test('a master is not asked about itself while another one serves', async () => {
  assert.equal(await scene({}).choose(first), 'b')
})

test('if none serves, the step is about the first', async () => {
  assert.equal(await scene({ away: ['a', 'b', 'c'] }).choose(), 'a')
})

test('the choice holds for some seconds, and ends at once when that master is lost', async () => {
  const { choose, opened, clock, away, masters } = scene({})
  assert.equal(await choose(), 'a')
  assert.equal(await choose(), 'a')
  assert.deepEqual(opened, ['a'])
  away.push('a')
  await masters.forget()
  assert.equal(await choose(), 'c')
  away.length = 0
  await clock.advance(10_000)
  assert.equal(await choose(), 'a')
})
