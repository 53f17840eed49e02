import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tableLines } from './print-table.ts'
import { cutToWidth, rowsOf, textWidth } from './text-width.ts'

const widths: readonly (readonly [text: string, width: number])[] = [
  ['branch-7', 8],
  ['Größe…', 6],
  ['门店七', 6],
  ['e\u0301', 1],
  ['ｆｕｌｌ', 8],
  ['한글 カナ', 9],
  ['🚀', 2],
]
for (const [text, width] of widths) {
  test(`“${text}” takes ${width} columns`, () => assert.equal(textWidth(text), width))
}

test('columns of a table stand one below another, whatever the letters are', () => {
  const rows = [
    ['NAME', 'PLACE'],
    ['门店', 'Oslo'],
    ['till', '上海'],
  ]
  assert.deepEqual(tableLines(rows, []), ['NAME   PLACE', '门店   Oslo', 'till   上海'])
})

test('a line is cut before the last column, and never in the middle of a wide letter', () => {
  assert.equal(cutToWidth('abcdef', 7), 'abcdef')
  assert.equal(cutToWidth('abcdef', 6), 'abcd…')
  assert.equal(cutToWidth('门店七号', 6), '门店…')
  assert.equal(cutToWidth('门店七号', 7), '门店…')
})

test('a line that is wider than the terminal takes several rows', () => {
  assert.equal(rowsOf(['', 'a'.repeat(80), 'a'.repeat(81), '门'.repeat(41)], 80), 1 + 1 + 2 + 2)
})
