import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EdgeCluster, EdgeClusterSpec, MachineStatus } from '../kind/edge-cluster.ts'
import { machinesOf } from '../kind/machine-addresses.ts'
import { departure } from '../steps/departure-table.ts'
import { removal, steps } from '../steps/steps-table.ts'
import { planCluster } from './plan-cluster.ts'

const credentials = { name: 'ssh' }
const master = { addresses: ['m'], credentials, role: 'Master' as const }
const bySite = { addresses: ['s'], credentials, via: 'Site' as const }
const login = { user: 'root', port: 22, credentials: 'ssh' }

interface Plan {
  readonly spec: Partial<EdgeClusterSpec>
  readonly known?: Partial<MachineStatus>
  readonly isDeleted?: boolean
}

const plans: readonly [what: string, plan: Plan, has: boolean][] = [
  ['stays', { spec: { machines: [master, bySite] }, known: { isDialled: true } }, false],
  [
    'gets another way',
    { spec: { machines: [master, { addresses: ['s'], credentials }] }, known: { isDialled: true } },
    true,
  ],
  ['leaves', { spec: { machines: [master] }, known: { isDialled: true } }, true],
  [
    'leaves, and was allowed by a hub of before',
    { spec: { machines: [master] }, known: { login: { ...login, via: 'Site' } } },
    true,
  ],
  ['leaves, and was never dialled', { spec: { machines: [master] }, known: { login } }, false],
  [
    'is deleted with its cluster, whose master is cleaned',
    { spec: { machines: [master, bySite] }, known: { isDialled: true }, isDeleted: true },
    false,
  ],
  [
    'is kept when its cluster is deleted',
    {
      spec: { machines: [master, bySite], deletion: { machines: 'Keep' } },
      known: { isDialled: true },
      isDeleted: true,
    },
    true,
  ],
]
for (const [what, { spec, known, isDeleted = false }, has] of plans) {
  test(`a machine that ${what} ${has ? 'may not be dialled any more' : 'needs no step for it'}`, () => {
    const machines: MachineStatus[] = [
      { address: 's', role: 'Node', isChanged: true, node: 's', login, ...known },
    ]
    const metadata = isDeleted ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}
    const edge: EdgeCluster = {
      apiVersion: 'hub.skerry.io/v1alpha1',
      kind: 'EdgeCluster',
      metadata: { name: 'edge', ...metadata },
      spec: { machines: [], ...spec },
      status: { machines },
    }
    const { instances } = planCluster(edge, machinesOf(edge.spec), { steps, departure, removal })
    const texts = instances.map(({ text }) => text)
    assert.equal(texts.includes('ForbidDial@s'), has, texts.join(' '))
    const cleaned = texts.indexOf('CleanMachine@s')
    assert.ok(
      !has || cleaned < texts.indexOf('ForbidDial@s'),
      'the site leads to it until it is clean',
    )
  })
}
