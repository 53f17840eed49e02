import assert from 'node:assert/strict'
import { test } from 'node:test'
import { outermostRanges } from './ipv4-ranges.ts'

const table: readonly (readonly [given: readonly string[], kept: readonly string[]])[] = [
  [['10.0.0.0/8'], ['10.0.0.0/8']],
  [
    ['192.0.2.7/32', '10.0.0.0/8', '192.0.2.0/24'],
    ['10.0.0.0/8', '192.0.2.0/24'],
  ],
  [['10.0.0.0/8', '10.0.0.0/8'], ['10.0.0.0/8']],
  [['192.0.2.7/24'], ['192.0.2.0/24']],
  [
    ['10.0.0.0/9', '10.128.0.0/9'],
    ['10.0.0.0/9', '10.128.0.0/9'],
  ],
  [['0.0.0.0/0', '203.0.113.0/24'], ['0.0.0.0/0']],
  [
    ['2001:db8::/32', '10.0.0.1', '10.0.0.0/33', '010.0.0.0/8', '10.0.0.0/8/9', ' 10.1.0.0/16 '],
    ['10.1.0.0/16'],
  ],
]

for (const [given, kept] of table) {
  test(`of ${given.join(', ')} the rules have ${kept.join(', ')}`, () => {
    assert.deepEqual(outermostRanges(given), kept)
  })
}
