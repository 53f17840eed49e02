import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rowWindow, scrollToRow } from './row-window.ts'

test('only the visible rows of a long list are drawn, and a few around them', () => {
  const view = { rows: 10_000, rowPx: 28, heightPx: 560, overscan: 4 }
  assert.deepEqual(rowWindow({ ...view, topPx: 0 }), { first: 0, end: 24 })
  assert.deepEqual(rowWindow({ ...view, topPx: 28_000 }), { first: 996, end: 1_024 })
  assert.deepEqual(rowWindow({ ...view, topPx: 279_440 }), { first: 9_976, end: 10_000 })
})

test('a list that has become shorter than its scroll position draws nothing wrong', () => {
  const view = { rowPx: 28, heightPx: 560, overscan: 4, topPx: 28_000 }
  assert.deepEqual(rowWindow({ ...view, rows: 3 }), { first: 3, end: 3 })
  assert.deepEqual(rowWindow({ ...view, rows: 0 }), { first: 0, end: 0 })
})

test('a chosen row is scrolled into view, and no further', () => {
  const view = { rowPx: 28, topPx: 280, heightPx: 280 }
  assert.equal(scrollToRow(12, view), 280)
  assert.equal(scrollToRow(2, view), 56)
  assert.equal(scrollToRow(30, view), 588)
})
