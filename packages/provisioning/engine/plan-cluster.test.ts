import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  edgeClusterAsks,
  type EdgeCluster,
  type EdgeDeletion,
  type MachineStatus,
  type StepStatus,
} from '../kind/edge-cluster.ts'
import { machinesOf } from '../kind/machine-addresses.ts'
import type { Step } from '../contract/step.ts'
import { departed, isBusy, planCluster } from './plan-cluster.ts'

const act = async (): Promise<string> => ''
const text = { does: 'work', needs: [], act }
const isAlive = ({ isDead }: MachineStatus): boolean => isDead !== true
const isCleaned = ({ spec }: EdgeCluster): boolean => spec.deletion?.machines !== 'Keep'
const tables = {
  steps: [{ ...text, name: 'Connect', place: 'machines' as const }],
  departure: [
    { ...text, name: 'Drain', place: 'master-for-each' as const, appliesTo: isAlive },
    { ...text, name: 'Delete', place: 'master-for-each' as const },
  ],
  removal: [
    { ...text, name: 'Clean', place: 'machines' as const, applies: isCleaned },
    { ...text, name: 'Forget', place: 'hub' as const },
  ],
} satisfies Record<string, readonly Step[]>

const credentials = { name: 'ssh' }
const login = { user: 'admin', port: 2222, credentials: 'old-ssh' }
const known: MachineStatus[] = [
  { address: 'm', role: 'Master', isChanged: true },
  { address: 'gone', role: 'Node', isChanged: true, hostKey: 'SHA256:x', node: 'shop', login },
  { address: 'untouched', role: 'Node', login },
]

interface Scene {
  readonly machines?: MachineStatus[]
  readonly dead?: string
  readonly deletion?: EdgeDeletion
  readonly isDeleted?: boolean
}

function planOf({ machines = known, dead, deletion, isDeleted = false }: Scene) {
  const edge: EdgeCluster = {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'EdgeCluster',
    metadata: {
      name: 'edge',
      annotations: dead === undefined ? {} : { [edgeClusterAsks.dead]: dead },
      ...(isDeleted ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
    },
    spec: {
      machines: [
        { addresses: ['m'], credentials, role: 'Master' },
        { addresses: ['a'], credentials, user: 'root' },
      ],
      ...(deletion === undefined ? {} : { deletion }),
    },
    status: { machines },
  }
  return planCluster(edge, machinesOf(edge.spec), tables)
}

const plans: readonly [what: string, scene: Scene, instances: readonly string[]][] = [
  [
    'a machine that the spec does not name leaves first',
    {},
    ['Drain@gone', 'Delete@gone', 'Connect@m', 'Connect@a'],
  ],
  ['a dead one is not asked for', { dead: 'x, gone' }, ['Delete@gone', 'Connect@m', 'Connect@a']],
  [
    'a machine in the spec is not dead',
    { dead: 'm,a' },
    ['Drain@gone', 'Delete@gone', 'Connect@m', 'Connect@a'],
  ],
  [
    'a removal cleans those that leave as well',
    { isDeleted: true },
    ['Clean@m', 'Clean@a', 'Clean@gone', 'Forget'],
  ],
  [
    'a removal that keeps machines lets those that leave end their departure',
    { isDeleted: true, deletion: { machines: 'Keep' } },
    ['Drain@gone', 'Delete@gone', 'Forget'],
  ],
]
for (const [what, scene, instances] of plans) {
  test(what, () => {
    assert.deepEqual(
      planOf(scene).instances.map((each) => each.text),
      instances,
    )
  })
}

/** The digest of no labels and no taints. */
const noSettings = '7a3890529600'

test('the status keeps the login of each machine, and drops machines that were never changed', () => {
  const { machines, leaving } = planOf({})
  assert.deepEqual(machines, [
    {
      address: 'm',
      role: 'Master',
      isChanged: true,
      site: 'Founds',
      login: { user: 'root', port: 22, credentials: 'ssh' },
      given: [noSettings],
    },
    {
      address: 'a',
      role: 'Node',
      login: { user: 'root', port: 22, credentials: 'ssh' },
      given: [noSettings],
    },
    known[1],
  ])
  const [machine] = leaving
  assert.deepEqual(
    [
      machine?.address,
      machine?.user,
      machine?.port,
      machine?.block.credentials,
      machine?.block.hostKeys,
    ],
    ['gone', 'admin', 2222, { name: 'old-ssh' }, undefined],
  )
})

test('a machine that is named again is not dead any more', () => {
  const machines: MachineStatus[] = [{ address: 'a', role: 'Node', isChanged: true, isDead: true }]
  const again = planOf({ machines }).machines.find(({ address }) => address === 'a')
  assert.deepEqual([again?.isChanged, again?.isDead], [true, undefined])
})

const busyWith: readonly [what: string, states: readonly Partial<StepStatus>[], busy: boolean][] = [
  ['a step that may begin', [{}], true],
  ['a step that failed', [{ state: 'Done' }, { state: 'Failed' }], false],
  [
    'a look that is due',
    [{ attempt: 0, nextTime: '1970-01-01T00:00:00Z' }, { state: 'Done' }],
    false,
  ],
  ['an attempt that is due', [{ attempt: 1, nextTime: '1970-01-01T00:00:00Z' }], true],
  ['an attempt that is not due', [{ attempt: 1, nextTime: '1970-01-01T00:05:00Z' }], false],
  ['nothing but finished steps', [{ state: 'Done' }, { state: 'Skipped' }], false],
]
for (const [what, states, busy] of busyWith) {
  test(`with ${what} a cluster is ${busy ? 'at work' : 'at rest'}`, () => {
    const all = planOf({ machines: [] }).instances
    const steps = all.map(({ machine }, at): StepStatus => {
      const { address = '' } = machine ?? {}
      return {
        name: 'Connect',
        machine: address,
        state: at < states.length ? 'Waiting' : 'Done',
        ...states[at],
      }
    })
    assert.equal(isBusy(all, { steps }, 60_000), busy)
  })
}

const leftWith: readonly [states: readonly StepStatus['state'][], hasLeft: boolean][] = [
  [[], true],
  [['Done', 'Skipped'], true],
  [['Done', 'Waiting'], false],
  [['Done', 'Failed'], false],
]
for (const [states, hasLeft] of leftWith) {
  test(`a machine whose steps are ${states.join(' and ') || 'none'} has ${hasLeft ? '' : 'not '}left`, () => {
    const steps = states.map((state, at) => ({ name: `Step${at}`, machine: 'gone', state }))
    assert.equal(departed(planOf({}).leaving, { steps }).has('gone'), hasLeft)
  })
}
