import assert from 'node:assert/strict'
import { test } from 'node:test'
import { planWindow } from './session-window.ts'

const kib = 1_024
const mib = 1_048_576
const limits = {
  streamWindowBytes: 8 * mib,
  streamWindowBytesMin: 64 * kib,
  bufferedBytesMax: 64 * mib,
}

const cases: readonly { what: string; buffered: number; streams: number; expected: number }[] = [
  { what: 'nothing waits: the whole window', buffered: 0, streams: 1, expected: 8 * mib },
  { what: 'a little waits: half of it', buffered: 1, streams: 1, expected: 4 * mib },
  { what: 'half the budget waits', buffered: 32 * mib, streams: 10, expected: 4 * mib },
  { what: 'many idle watches', buffered: 0, streams: 1_000, expected: 512 * kib },
  { what: 'the budget is used up', buffered: 64 * mib, streams: 10, expected: 64 * kib },
  { what: 'more than the budget waits', buffered: 90 * mib, streams: 10, expected: 64 * kib },
]
for (const { what, buffered, streams, expected } of cases) {
  test(`window when ${what}`, () => {
    assert.equal(planWindow({ bufferedBytes: buffered, streams }, limits), expected)
  })
}
