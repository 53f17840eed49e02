import assert from 'node:assert/strict'
import { test } from 'node:test'
import { byteRange } from './byte-range.ts'

const bytes = 1_000
const table: readonly [string | undefined, ReturnType<typeof byteRange>][] = [
  [undefined, undefined],
  ['bytes=0-', { start: 0, end: 1_000 }],
  ['bytes=10-19', { start: 10, end: 20 }],
  ['bytes=999-', { start: 999, end: 1_000 }],
  ['bytes=990-5000', { start: 990, end: 1_000 }],
  ['bytes=-10', { start: 990, end: 1_000 }],
  ['bytes=-5000', { start: 0, end: 1_000 }],
  ['bytes=1000-', 'none'],
  ['bytes=999999999999999-', 'none'],
  ['bytes=-0', 'none'],
  ['bytes=0-1,5-6', 'none'],
  [`bytes=${Array.from({ length: 10_000 }, (_, at) => `${at}-${at}`).join(',')}`, 'none'],
  [`bytes=${'9'.repeat(70)}-`, 'none'],
  // A field that says nothing is as if it were not there (RFC 9110, section 14.2).
  ['bytes=20-10', undefined],
  ['bytes=-', undefined],
  ['bytes=a-b', undefined],
  ['lines=1-2', undefined],
  ['', undefined],
]

for (const [field, expected] of table) {
  test(`Range ${String(field).slice(0, 40)} of a file of ${bytes} bytes`, () => {
    assert.deepEqual(byteRange(field, bytes), expected)
  })
}
