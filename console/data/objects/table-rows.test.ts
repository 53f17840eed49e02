import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cellText, matchesText, shownColumns, tableRows } from './table-rows.ts'

test('rows carry their metadata in either place', () => {
  const metadata = { name: 'a', namespace: 'x' }
  const items = new Map<string, unknown>([
    ['1', { cells: ['a'], object: { metadata } }],
    ['2', { cells: ['a'], metadata }],
    ['3', 'not a row'],
  ])
  const rows = tableRows({ phase: 'live', items, columns: [] })
  assert.deepEqual(rows, [
    { cells: ['a'], metadata },
    { cells: ['a'], metadata },
  ])
})

test('columns for which kubectl wants “-o wide” are left out, and cells keep their places', () => {
  const columns = [
    { name: 'Name', type: 'string' },
    { name: 'IP', type: 'string', priority: 1 },
    { name: 'Age', type: 'string', priority: 0 },
  ]
  const places = shownColumns(columns).map(({ column, at }) => [column.name, at])
  assert.deepEqual(places, [
    ['Name', 0],
    ['Age', 2],
  ])
  assert.equal(shownColumns(columns, true).length, 3)
})

test('a filter finds namespaces, cells and labels', () => {
  const row = {
    cells: ['web-1', '1/1', null],
    metadata: { name: 'web-1', namespace: 'shop', labels: { app: 'till' } },
  }
  assert.ok(matchesText(row, 'SHOP web'))
  assert.ok(matchesText(row, 'app=till 1/1'))
  assert.ok(!matchesText(row, 'web depot'))
  assert.equal(cellText(null), '')
})
