import assert from 'node:assert/strict'
import { test } from 'node:test'
import { viewLimits } from '../limits-table.ts'
import { readRow, readSort, rowValues, sortValues, type Sort } from './table-address.ts'

const columns = ['name', 'age', '-1&x=y'].map((key) => ({ key }))

test('the order of a table comes back from the address that it was written to', () => {
  for (const table of [undefined, 'places']) {
    for (const { key } of columns) {
      for (const isDescending of [false, true]) {
        const sort: Sort = { key, isDescending }
        const search = new URLSearchParams(sortValues(sort, { table, first: 'name' })).toString()
        const values = Object.fromEntries(
          [...new URLSearchParams(search)].filter(([, value]) => value !== ''),
        )
        assert.deepEqual(readSort(values, { table, first: 'name', columns }), sort)
      }
    }
  }
})

test('two tables of one page are sorted each by its own part of the address', () => {
  const values = {
    ...sortValues({ key: 'age', isDescending: true }, { first: 'name' }),
    ...sortValues({ key: 'name', isDescending: false }, { table: 'places', first: '' }),
    ...rowValues('till', undefined),
    ...rowValues('unit', 'places'),
  }
  assert.deepEqual(readSort(values, { first: 'name', columns }), { key: 'age', isDescending: true })
  const second = readSort(values, { table: 'places', first: '', columns })
  assert.deepEqual(second, { key: 'name', isDescending: false })
  assert.deepEqual([readRow(values, undefined), readRow(values, 'places')], ['till', 'unit'])
})

test('a column that the table does not have leaves it in its first order', () => {
  const values = { sort: 'gone', order: 'descending' }
  const sort = readSort(values, { first: 'name', columns })
  assert.deepEqual(sort, { key: 'name', isDescending: false })
})

test('a row of a name without end stays out of the address', () => {
  assert.equal(rowValues('x'.repeat(viewLimits.addressRowChars + 1), undefined), undefined)
  assert.deepEqual(rowValues('default/till', undefined), { row: 'default/till' })
})
