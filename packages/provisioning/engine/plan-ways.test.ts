import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StepStatus } from '../kind/edge-cluster.ts'
import { machinesOf } from '../kind/machine-addresses.ts'
import { departure } from '../steps/departure-table.ts'
import { importRemoval } from '../steps/import-steps-table.ts'
import { removal, steps } from '../steps/steps-table.ts'
import { instancesOf, readySteps, statusesOf } from './plan-steps.ts'

const credentials = { name: 'ssh' }
const machines = machinesOf({
  machines: [
    { addresses: ['m'], credentials, role: 'Master' },
    { addresses: ['a'], credentials },
    { addresses: ['s'], credentials, via: 'Site' },
  ],
})
const changed = machines.map(({ address, role }) => ({ address, role, isChanged: true }))
/** Only objects with further fields have these steps. */
const optional = [
  'CopyFiles',
  'BeforeInstall',
  'AfterInstall',
  'ReadSources',
  'ConfigureMachine',
  'ForbidDial',
]
const plan = (table: typeof steps): ReturnType<typeof instancesOf> =>
  instancesOf(
    table.filter(({ name }) => !optional.includes(name)),
    machines,
    changed,
  )

/** Returns the steps that may begin when these are done, or in another state. */
function ready(
  instances: ReturnType<typeof plan>,
  states: Readonly<Record<string, StepStatus['state']>>,
): string[] {
  const statuses = statusesOf(instances, [], {}).map((status, at) => ({
    ...status,
    state: states[instances[at]?.text ?? ''] ?? status.state,
  }))
  return readySteps(instances, statuses, 0).map(({ text }) => text)
}

test('a machine behind the site is opened when the site is there and may dial it', () => {
  const all = plan(steps)
  const of = (address: string): string[] =>
    all.filter(({ machine }) => machine?.address === address).map(({ step }) => step.name)
  const order = all.map(({ text }) => text)
  assert.ok(order.indexOf('SiteReady@m') < order.indexOf('AllowDial@s'))
  assert.deepEqual(of('s').slice(0, 3), ['AllowDial', 'Connect', 'Preflight'])
  assert.deepEqual(of('s').slice(1), of('a'))
  assert.ok(!order.includes('AllowDial@a') && !order.includes('AllowDial@m'))
  assert.deepEqual(ready(all, { ClaimName: 'Done', ReadSources: 'Done', 'Connect@m': 'Done' }), [
    'Connect@a',
    'Preflight@m',
  ])
  const made = order.slice(0, order.indexOf('AllowDial@s'))
  const done = Object.fromEntries(made.map((text) => [text, 'Done' as const]))
  assert.deepEqual(ready(all, done), ['AllowDial@s', 'JoinNode@m'])
})

test('add-ons come after the nodes, and a machine behind the site does not wait for them', () => {
  const order = plan(steps).map(({ text }) => text)
  assert.equal(order.at(-1), 'ApplyAddOns@m')
})

test('a machine behind the site leaves in the order of the steps, as all others do', () => {
  const known = changed.map((status) => ({ ...status, node: status.address }))
  const leaving = machines.filter(({ role }) => role !== 'Master')
  const all = instancesOf(departure, leaving, known)
  // A node has no vote.
  const ofMembers = ['CheckQuorum', 'RemoveMember']
  const names = departure.map(({ name }) => name).filter((name) => !ofMembers.includes(name))
  const of = (address: string): string[] =>
    all.filter(({ machine }) => machine?.address === address).map(({ step }) => step.name)
  assert.deepEqual(of('s'), names)
  assert.deepEqual(
    of('a'),
    names.filter((name) => name !== 'ForbidDial'),
  )
})

test('the master is cleaned, and the cluster forgotten, after the machines that only the site reaches', () => {
  const all = plan(removal)
  assert.deepEqual(ready(all, {}), ['CleanMachine@s'])
  assert.deepEqual(ready(all, { 'CleanMachine@s': 'Failed' }), [])
  assert.deepEqual(ready(all, { 'CleanMachine@s': 'Skipped' }), ['CleanMachine@m'])
  const cleaned = { 'CleanMachine@s': 'Done', 'CleanMachine@m': 'Done' } as const
  assert.deepEqual(ready(all, cleaned), ['CleanMachine@a', 'ForgetCluster'])
})

test('of the steps of the hub only the removal of an agent may be skipped', () => {
  const all = instancesOf(importRemoval, [], [])
  const found = statusesOf(all, [], { skipSteps: ['RemoveAgent', 'ForgetCluster'] })
  assert.deepEqual(
    found.map(({ state }) => state),
    ['Skipped', 'Waiting'],
  )
})
