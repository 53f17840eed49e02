import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EdgeCluster, MachineStatus, StepState, StepStatus } from '../kind/edge-cluster.ts'
import { machinesOf } from '../kind/machine-addresses.ts'
import { sitePlaceOf } from '../kind/made-masters.ts'
import { departure } from '../steps/departure-table.ts'
import { removal, steps } from '../steps/steps-table.ts'
import { instancesOf, readySteps, statusesOf, type StepInstance } from './plan-steps.ts'

const credentials = { name: 'ssh' }
const edge: EdgeCluster = {
  apiVersion: 'hub.skerry.io/v1alpha1',
  kind: 'EdgeCluster',
  metadata: { name: 'edge', namespace: 'default' },
  spec: {
    machines: [
      { addresses: ['a', 'b', 'c'], credentials, role: 'Master' },
      { addresses: ['n'], credentials },
    ],
    store: { type: 'Etcd' },
  },
}
const machines = machinesOf(edge.spec)
const known: MachineStatus[] = machines.map(({ address, role }) => ({
  address,
  role,
  ...sitePlaceOf({ address, role }, machines, []),
}))
const applying = steps.filter(({ applies }) => applies?.(edge) !== false)
const all = instancesOf(applying, machines, known)

/** Returns what may begin when every step before a name is done, but those that are told otherwise. */
function ready(
  instances: readonly StepInstance[],
  before: string,
  states: Readonly<Record<string, StepState>> = {},
): string[] {
  const at = instances.findIndex(({ step }) => step.name === before)
  const statuses: StepStatus[] = statusesOf(instances, [], edge.spec).map((status, index) => ({
    ...status,
    state: states[instances[index]?.text ?? ''] ?? (index < at ? 'Done' : 'Waiting'),
  }))
  return readySteps(instances, statuses, 0).map(({ text }) => text)
}

test('one master begins the site, and the others join it', () => {
  const of = (name: string): string[] =>
    all.filter(({ step }) => step.name === name).map(({ machine }) => machine?.address ?? '')
  assert.deepEqual(of('StartSite'), ['a'])
  assert.deepEqual(of('JoinMaster'), ['b', 'c'])
  assert.deepEqual(of('JoinWitness'), [])
})

test('masters join one after another, and nodes do not wait for them', () => {
  const begun = ready(all, 'JoinMaster', { 'JoinNode@a': 'Done', 'NodeReady@a': 'Done' })
  assert.ok(begun.includes('JoinMaster@b') && !begun.includes('JoinMaster@c'), begun.join(' '))
  assert.ok(begun.includes('JoinNode@n'), begun.join(' '))
})

test('a master that cannot join holds up no other one', () => {
  const begun = ready(all, 'JoinMaster', { 'JoinMaster@b': 'Failed' })
  assert.ok(begun.includes('JoinMaster@c'), begun.join(' '))
})

test('nobody joins before the first master has a site', () => {
  const begun = ready(all, 'StartSite')
  assert.deepEqual(begun, ['StartSite@a'])
})

test('a cluster is forgotten when its last master is clean', () => {
  const members = known.map((each) => ({ ...each, isChanged: true, member: each.address }))
  const instances = instancesOf(removal, machines, members)
  const isClean = {
    'CleanMachine@a': 'Done',
    'CleanMachine@b': 'Done',
    'CleanMachine@n': 'Done',
  } as const
  assert.deepEqual(ready(instances, 'ForgetCluster', { ...isClean, 'CleanMachine@c': 'Waiting' }), [
    'CleanMachine@c',
  ])
})

test('a master loses its vote before it is cleaned, and before another one joins', () => {
  const leaving = machines.filter(({ address }) => address === 'c')
  const staying = machines.filter(({ address }) => address !== 'c')
  const changed = known.map((each) => ({ ...each, isChanged: true, node: each.address }))
  const names = instancesOf(departure, leaving, changed).map(({ step }) => step.name)
  assert.ok(names.indexOf('RemoveMember') < names.indexOf('CleanMachine'), names.join(' '))
  const both = [
    ...instancesOf(departure, leaving, changed),
    ...instancesOf(applying, staying, changed),
  ]
  const done = Object.fromEntries(
    both
      .filter(({ text }) => !/^(RemoveMember|JoinMaster|CleanMachine)@/.test(text))
      .map(({ text }) => [text, 'Done' as const]),
  )
  assert.deepEqual(ready(both, 'none', done), ['RemoveMember@c'])
})
