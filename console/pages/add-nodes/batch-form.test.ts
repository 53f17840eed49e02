import assert from 'node:assert/strict'
import { test } from 'node:test'
import { batchFaults, batchOf, batchPatch, emptyBatch, type BatchForm } from './batch-form.ts'

const csv = `address,user,port,credentials,labels
# the till
10.0.0.13,admin,2222,till-ssh,tier=front;shop=7

10.0.0.14
`

test('a file of machines becomes a block for each line, with the fields that all lines share', () => {
  const form: BatchForm = { ...emptyBatch, source: 'csv', csv, labels: 'rack=a', atOnce: '20' }
  const batch = batchOf(form, 'shop-ssh')
  assert.deepEqual(batch, {
    blocks: [
      {
        addresses: ['10.0.0.13'],
        user: 'admin',
        port: 2222,
        credentials: { name: 'till-ssh' },
        labels: { rack: 'a', tier: 'front', shop: '7' },
      },
      { addresses: ['10.0.0.14'], credentials: { name: 'shop-ssh' }, labels: { rack: 'a' } },
    ],
    lines: [3, 5],
    faults: [],
  })
  assert.deepEqual(batchPatch(batch, form).at(-1), {
    op: 'add',
    path: '/spec/machinesAtOnce',
    value: 20,
  })
})

test('a line that cannot be read is named, and the others are kept', () => {
  const lines = '10.0.0.1\n,root\na,b,c,d,e,f\n"10.0.0.2"\n10.0.0.3'
  const { blocks, faults } = batchOf({ ...emptyBatch, source: 'csv', csv: lines }, 's')
  assert.deepEqual(faults, [
    { line: 2, why: 'address' },
    { line: 3, why: 'fields' },
    { line: 4, why: 'quotes' },
  ])
  assert.equal(blocks.length, 2)
})

test('addresses become one block, with the way on which the hub reaches them', () => {
  const form: BatchForm = {
    ...emptyBatch,
    addresses: '10.0.0.[11-14], shop-7',
    acceptsNewKeys: true,
    way: 'jump',
    jumpAddress: 'gate',
    jumpUser: 'hop',
    jumpSecret: 'gate-ssh',
  }
  const jump = { address: 'gate', user: 'hop', credentials: { name: 'gate-ssh' } }
  const shared = { credentials: { name: 's' }, acceptNewHostKeys: true }
  const block = { addresses: ['10.0.0.[11-14]', 'shop-7'], ...shared }
  assert.deepEqual(batchOf(form, 's').blocks, [
    { ...block, jump: { ...jump, acceptNewHostKeys: true } },
  ])
  assert.deepEqual(batchOf({ ...form, way: 'site' }, 's').blocks, [{ ...block, via: 'Site' }])
  assert.deepEqual(batchOf(emptyBatch, 's').blocks, [])
})

test('further masters bring the store on which several can be', () => {
  const form: BatchForm = { ...emptyBatch, addresses: '10.0.0.12', role: 'Master' }
  const batch = batchOf(form, 's')
  const master = { addresses: ['10.0.0.12'], role: 'Master', credentials: { name: 's' } }
  const add = { op: 'add', path: '/spec/machines/-', value: master }
  assert.deepEqual(batchPatch(batch, form), [add])
  assert.deepEqual(batchPatch(batch, { ...form, movesToEtcd: true }), [
    { op: 'add', path: '/spec/store', value: { type: 'Etcd' } },
    add,
  ])
})

test('the hub’s faults come to the field, or to the line of the file', () => {
  const fault = (field: string, message: string) => ({ field, message, reason: '' })
  const faults = [
    fault('spec.machines[2].addresses[0]', 'odd'),
    fault('spec.machines[3].credentials.name', 'missing'),
    fault('spec.machines[0].port', 'old'),
    fault('spec.machinesAtOnce', 'too many'),
  ]
  const lines = { blocks: [], lines: [3, 5], faults: [] }
  assert.deepEqual(Object.fromEntries(batchFaults(faults, lines, 2)), {
    csv: ['3: odd', '5: missing'],
    '': ['old'],
    atOnce: ['too many'],
  })
  const block = { blocks: [], lines: [], faults: [] }
  assert.deepEqual(Object.fromEntries(batchFaults(faults.slice(0, 2), block, 2)), {
    addresses: ['odd'],
    login: ['missing'],
  })
})
