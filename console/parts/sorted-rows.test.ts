import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sortedRows } from './sorted-rows.ts'

const sorted = (values: readonly (string | number)[], isDescending = false) =>
  sortedRows(values, (value) => value, isDescending)

test('numbers in texts count as numbers, in plain texts and in others, whatever the case', () => {
  assert.deepEqual(sorted(['shop-10', 'Shop-9', 'shop-1']), ['shop-1', 'Shop-9', 'shop-10'])
  assert.deepEqual(sorted(['店-10', '店-9', 'a']), ['a', '店-9', '店-10'])
  assert.deepEqual(sorted(['v1.36.10', 'v1.36.9', '']), ['', 'v1.36.9', 'v1.36.10'])
})

test('numbers are sorted by their size, and the other way round', () => {
  assert.deepEqual(sorted([10, 9, -1]), [-1, 9, 10])
  assert.deepEqual(sorted([10, 9, -1], true), [10, 9, -1])
  assert.deepEqual(sorted(['a2', 'a10'], true), ['a10', 'a2'])
})

test('equal rows keep their order in both directions', () => {
  const rows = [
    { name: 'b', state: 'Ready' },
    { name: 'a', state: 'Ready' },
  ]
  for (const isDescending of [false, true]) {
    assert.deepEqual(
      sortedRows(rows, ({ state }) => state, isDescending),
      rows,
    )
  }
})
