import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MachineBlock } from './edge-cluster.ts'
import { machinesOf } from './machine-addresses.ts'
import { withoutAddress } from './without-address.ts'

const blockOf = (...addresses: string[]): MachineBlock => ({
  addresses,
  credentials: { name: 'ssh' },
  labels: { tier: 'front' },
})

const cases: readonly [addresses: string[], removed: string, left: string[]][] = [
  [['10.0.0.11', '10.0.0.12'], '10.0.0.12', ['10.0.0.11']],
  [['10.0.0.[11-14]'], '10.0.0.12', ['10.0.0.11', '10.0.0.[13-14]']],
  [['10.0.0.[11-14]'], '10.0.0.11', ['10.0.0.[12-14]']],
  [['10.0.0.[11-14]'], '10.0.0.14', ['10.0.0.[11-13]']],
  [['10.0.0.[11-12]'], '10.0.0.11', ['10.0.0.12']],
  [
    ['10.0.0.9', '10.0.0.[11-15]', 'shop'],
    '10.0.0.13',
    ['10.0.0.9', '10.0.0.[11-12]', '10.0.0.[14-15]', 'shop'],
  ],
  [
    ['shop-[08-12].example.com'],
    'shop-09.example.com',
    ['shop-08.example.com', 'shop-[10-12].example.com'],
  ],
  [['shop-[008-012]'], 'shop-010', ['shop-[008-009]', 'shop-[011-012]']],
  [['shop-[098-102]'], 'shop-099', ['shop-098', 'shop-[100-102]']],
  [['shop-[0-10]'], 'shop-5', ['shop-[0-4]', 'shop-[6-10]']],
]
for (const [addresses, removed, left] of cases) {
  test(`${addresses.join(', ')} without ${removed} is ${left.join(', ')}`, () => {
    const found = withoutAddress([blockOf('10.9.9.9'), blockOf(...addresses)], removed)
    assert.deepEqual(found?.blocks, [blockOf('10.9.9.9'), blockOf(...left)])
    assert.deepEqual(found?.block, blockOf(...addresses))
    const before = machinesOf({ machines: [blockOf(...addresses)] })
    const after = machinesOf({ machines: found.blocks.slice(1) })
    assert.deepEqual(
      after.map(({ address }) => address),
      before.map(({ address }) => address).filter((address) => address !== removed),
    )
  })
}

test('a block whose only machine goes is removed, and others stay as they are', () => {
  const found = withoutAddress([blockOf('a'), blockOf('b')], 'b')
  assert.deepEqual(found?.blocks, [blockOf('a')])
})

test('an address that no block has removes nothing', () => {
  assert.equal(withoutAddress([blockOf('10.0.0.[11-14]')], '10.0.0.15'), undefined)
})
