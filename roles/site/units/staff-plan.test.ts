import assert from 'node:assert/strict'
import { test } from 'node:test'
import { planStaff, type Staff } from './staff-plan.ts'
import type { UnitStatement } from './unit-order.ts'

const serves = { version: 'v1.36.3', server: 'https://10.0.0.2:6443' }
const asks: UnitStatement = {
  record: { generation: 0, phase: 'empty' },
  node: { generation: 5, follows: 'unit' },
}
const one = { server: 'n1', nodes: ['n1', 'n2', 'n3', 'n4'] }
const three = { ...one, masters: ['n1', 'n2', 'n3'] }
const member = { ...asks, members: ['n1', 'n2', 'n3'], serves }

const table: readonly [
  title: string,
  hold: Parameters<typeof planStaff>[0],
  servers: number,
  heard: Readonly<Record<string, UnitStatement>>,
  expected: Omit<Staff, 'fault'>,
  fault?: RegExp,
][] = [
  [
    'of one server stays with it',
    one,
    1,
    { n1: asks, n2: asks },
    { server: 'n1', masters: ['n1'] },
  ],
  [
    'gets two more of the nodes that ask',
    one,
    3,
    { n1: asks, n3: asks, n4: asks },
    { server: 'n1', masters: ['n1', 'n3', 'n4'] },
  ],
  [
    'stays with one while too few nodes ask',
    one,
    3,
    { n1: asks, n3: asks },
    { server: 'n1', masters: ['n1'] },
    /^Insufficient Ready Node: 2 of 4 nodes ready, 3 needed for its control plane$/,
  ],
  [
    'keeps a silent one, which may come back',
    three,
    3,
    { n1: member, n2: member, n4: asks },
    { server: 'n1', masters: ['n1', 'n2', 'n3'] },
  ],
  [
    'whose speaker is silent is spoken for by another one that serves',
    three,
    3,
    { n2: { ...asks, members: ['n2'] }, n3: member },
    { server: 'n3', masters: ['n1', 'n2', 'n3'] },
  ],
  ['that is silent waits', three, 3, {}, { server: 'n1', masters: ['n1', 'n2', 'n3'] }],
  [
    'goes on with the one that speaks',
    { ...three, server: 'n2' },
    1,
    { n2: member },
    { server: 'n2', masters: ['n2'] },
  ],
  [
    'that is called back keeps its servers until it is sealed',
    three,
    0,
    { n1: member },
    { server: 'n1', masters: ['n1', 'n2', 'n3'] },
  ],
]

for (const [title, hold, servers, heard, expected, fault] of table) {
  test(`a unit ${title}`, () => {
    const { fault: found, ...staff } = planStaff(hold, servers, (node) => heard[node])
    assert.deepEqual(staff, expected)
    if (fault) assert.match(found?.message ?? '', fault)
    else assert.equal(found, undefined)
  })
}
