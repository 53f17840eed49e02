import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  countByState,
  groupFleet,
  isOutOfSight,
  labelKeys,
  matchesFilter,
  needsAttention,
  type FleetRow,
} from './fleet.ts'

const rows: readonly FleetRow[] = [
  { n: 'shop-10', s: 'ready', r: 'north', z: 'north-1', l: { tier: 'gold', city: 'Ulm' } },
  { n: 'shop-9', s: 'away', r: 'north', m: 'ping timeout', l: { tier: 'gold' } },
  { n: 'depot', s: 'degraded', r: 'south', v: 'v1.36.3' },
  { n: 'lab', s: 'ready' },
]

test('words of a filter are searched in names, places, versions, messages and labels', () => {
  const table: readonly (readonly [text: string, names: readonly string[]])[] = [
    ['', ['shop-10', 'shop-9', 'depot', 'lab']],
    ['SHOP', ['shop-10', 'shop-9']],
    ['north timeout', ['shop-9']],
    ['tier=gold ulm', ['shop-10']],
    ['v1.36', ['depot']],
    ['nowhere', []],
  ]
  for (const [text, names] of table) {
    const found = rows.filter((row) => matchesFilter(row, { text })).map(({ n }) => n)
    assert.deepEqual(found, names, text)
  }
})

test('states and labels of a filter all hold', () => {
  const found = rows.filter((row) =>
    matchesFilter(row, { states: ['ready', 'away'], labels: ['tier=gold', 'city'] }),
  )
  assert.deepEqual(
    found.map(({ n }) => n),
    ['shop-10'],
  )
})

test('groups are in the order of their names, numbers counted, and the nameless one is last', () => {
  const groups = groupFleet(rows, 'region')
  assert.deepEqual(
    groups.map(({ name, rows: members }) => [name, members.map(({ n }) => n)]),
    [
      ['north', ['shop-9', 'shop-10']],
      ['south', ['depot']],
      ['', ['lab']],
    ],
  )
  assert.deepEqual(
    groupFleet(rows, 'label:tier').map(({ name }) => name),
    ['gold', ''],
  )
})

test('states are counted, and a cluster that nobody hears is one to look at', () => {
  assert.deepEqual(countByState(rows).get('ready'), 2)
  assert.deepEqual(
    rows.filter(needsAttention).map(({ n }) => n),
    ['shop-9', 'depot'],
  )
  assert.deepEqual(
    rows.filter(isOutOfSight).map(({ n }) => n),
    ['shop-9'],
  )
})

test('keys of labels are offered by how often they occur', () => {
  assert.deepEqual(labelKeys(rows), ['tier', 'city'])
})
