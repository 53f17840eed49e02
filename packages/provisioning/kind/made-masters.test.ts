import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MachineStatus } from './edge-cluster.ts'
import { machinesOf } from './machine-addresses.ts'
import { frontOf, madeMasters, sitePlaceOf } from './made-masters.ts'

const credentials = { name: 'ssh' }
const machines = machinesOf({
  machines: [
    { addresses: ['a', 'b', 'c'], credentials, role: 'Master' },
    { addresses: ['n'], credentials },
    { addresses: ['w'], credentials, role: 'Witness' },
  ],
})
const master = (address: string, fields: Partial<MachineStatus> = {}): MachineStatus => ({
  address,
  role: 'Master',
  ...fields,
})

const places: readonly [what: string, known: MachineStatus[], expected: string][] = [
  ['a new cluster begins on its first master', [], 'a Founds, b Joins, c Joins, n -, w Joins'],
  [
    'a master that is named first later joins',
    [master('b', { site: 'Founds' })],
    'a Joins, b Founds, c Joins, n -, w Joins',
  ],
  [
    'a cluster of before goes on where it is',
    [master('a'), master('b', { isChanged: true })],
    'a Joins, b Founds, c Joins, n -, w Joins',
  ],
  [
    'no second site begins when the first master has left',
    [master('c', { site: 'Joins', member: 'c' })],
    'a Joins, b Joins, c Joins, n -, w Joins',
  ],
  [
    'a master whose member was removed joins again',
    [master('a', { site: 'Removed' }), master('b', { site: 'Joins' })],
    'a Removed, b Joins, c Joins, n -, w Joins',
  ],
]
for (const [what, known, expected] of places) {
  test(what, () => {
    const found = machines.map(
      (each) => `${each.address} ${sitePlaceOf(each, machines, known).site ?? '-'}`,
    )
    assert.equal(found.join(', '), expected)
  })
}

test('a master counts when it has begun the site, or has joined it', () => {
  const known = [
    master('a', { site: 'Removed', member: 'a' }),
    master('b', { site: 'Joins' }),
    master('c', { site: 'Joins', member: 'c' }),
  ]
  const addresses = (of: MachineStatus[]): string[] =>
    madeMasters(machines, of).map(({ address }) => address)
  assert.deepEqual(addresses(known), ['c'])
  assert.deepEqual(addresses([master('a', { site: 'Founds' }), ...known.slice(1)]), ['a', 'c'])
})

test('clients dial a virtual IP at the port of the site, and a balancer at its own', () => {
  const address = '10.0.0.9'
  const server = (highAvailability: object): string | undefined =>
    frontOf({ highAvailability })?.server
  assert.equal(server({ type: 'VirtualIP', address }), 'https://10.0.0.9:6443')
  assert.equal(server({ type: 'Balancer', address, port: 443 }), 'https://10.0.0.9:443')
  assert.equal(server({ type: 'None' }), undefined)
})
