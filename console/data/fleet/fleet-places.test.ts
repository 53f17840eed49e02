import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FleetRow } from './fleet.ts'
import { fleetOnMap, readPlaces } from './fleet-places.ts'

test('only whole coordinates are places', () => {
  const data = {
    north: '59.9, 10.7',
    far: '91, 0',
    wide: '0, 181',
    half: '5',
    empty: ',',
    three: '1,2,3',
    word: 'x, y',
    'south.s-1': '-33.9,18.4',
  }
  assert.deepEqual(
    [...readPlaces({ data })],
    [
      ['north', { latitude: 59.9, longitude: 10.7 }],
      ['south.s-1', { latitude: -33.9, longitude: 18.4 }],
    ],
  )
  assert.equal(readPlaces(undefined).size, 0)
})

test('a cluster stands at its most exact place, and shows the worst state there', () => {
  const places = readPlaces({
    data: { north: '60,10', 'north.n-2': '61,10', 'north.n-2.reef': '62,10' },
  })
  const row = (n: string, s: FleetRow['s'], r?: string, z?: string): FleetRow => ({
    n,
    s,
    ...(r === undefined ? {} : { r }),
    ...(z === undefined ? {} : { z }),
  })
  const rows = [
    row('b', 'ready', 'north', 'n-1'),
    row('a', 'away', 'north'),
    row('reef', 'ready', 'north', 'n-2'),
    row('till', 'failed', 'north', 'n-2'),
    row('lost', 'ready'),
    row('south', 'ready', 'south'),
  ]
  const { placed, withoutPlace } = fleetOnMap(rows, places)
  assert.deepEqual(
    placed.map(({ key, rows: members, state }) => [key, members.map(({ n }) => n), state]),
    [
      ['north', ['a', 'b'], 'away'],
      ['north.n-2', ['till'], 'failed'],
      ['north.n-2.reef', ['reef'], 'ready'],
    ],
  )
  assert.deepEqual(
    withoutPlace.map(({ n }) => n),
    ['lost', 'south'],
  )
})
