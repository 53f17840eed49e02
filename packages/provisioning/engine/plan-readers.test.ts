import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Step } from '../contract/step.ts'
import type { EdgeCluster, StepState } from '../kind/edge-cluster.ts'
import { machinesOf } from '../kind/machine-addresses.ts'
import { inputsOf, instancesOf, readySteps, statusesOf } from './plan-steps.ts'

const credentials = { name: 'ssh' }
const machines = machinesOf({
  machines: [
    { addresses: ['m'], credentials, role: 'Master' },
    { addresses: ['a'], credentials },
  ],
})
const act = async (): Promise<string> => ''
const text = { does: 'work', needs: [], act }
const steps: readonly Step[] = [
  { ...text, name: 'Claim', place: 'hub' },
  { ...text, name: 'Connect', place: 'machines', onlyReads: true },
  { ...text, name: 'Look', place: 'machines', onlyReads: true },
  { ...text, name: 'Install', place: 'machines' },
]
const all = instancesOf(steps, machines, [])

const cases: readonly [string, Readonly<Record<string, StepState>>, readonly string[]][] = [
  ['the name is not claimed', {}, ['Claim']],
  ['the name is claimed', { Claim: 'Done' }, ['Connect@m', 'Connect@a']],
  ['the master failed', { Claim: 'Done', 'Connect@m': 'Failed' }, ['Connect@a']],
  [
    'the master failed, and a node is open',
    { Claim: 'Done', 'Connect@m': 'Failed', 'Connect@a': 'Done' },
    ['Look@a'],
  ],
  [
    'the master failed, and a node is fit',
    { Claim: 'Done', 'Connect@m': 'Failed', 'Connect@a': 'Done', 'Look@a': 'Done' },
    [],
  ],
]
for (const [what, states, expected] of cases) {
  test(`if ${what}, the steps that only read go on: ${expected.join(' and ') || 'none'}`, () => {
    const statuses = statusesOf(all, [], {}).map((status) => {
      const name = status.machine === undefined ? status.name : `${status.name}@${status.machine}`
      return { ...status, state: states[name] ?? status.state }
    })
    assert.deepEqual(
      readySteps(all, statuses, 0).map((each) => each.text),
      expected,
    )
  })
}

test('a step whose fields have changed waits again, whatever it was; others keep their state', () => {
  const edge = { spec: { displayName: 'a', machines: [] } } as unknown as EdgeCluster
  const withInput: Step[] = steps.map((step) =>
    step.name === 'Install' ? { ...step, input: ({ spec }) => spec.displayName } : step,
  )
  const before = inputsOf(withInput, edge, [])
  const after = inputsOf(withInput, { ...edge, spec: { ...edge.spec, displayName: 'b' } }, [])
  assert.deepEqual([...before.keys()], ['Install'])
  assert.notEqual(before.get('Install'), after.get('Install'))
  const planned = instancesOf(withInput, machines, [])
  const done = statusesOf(planned, [], {}, { inputs: before }).map((status) => ({
    ...status,
    state: 'Done' as const,
  }))
  const states = statusesOf(planned, done, {}, { inputs: after }).map(
    ({ name, state }) => `${name} ${state}`,
  )
  assert.deepEqual(states.slice(-3), ['Look Done', 'Install Waiting', 'Install Waiting'])
  assert.ok(
    statusesOf(planned, done, {}, { inputs: before }).every(({ state }) => state === 'Done'),
  )
})
