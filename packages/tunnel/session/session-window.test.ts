import assert from 'node:assert/strict'
import { test } from 'node:test'
import { planWindow, ReceiveBudget, ReceiveWindow } from './session-window.ts'

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

test('however readers come, read and stall, the bound on promised bytes holds', () => {
  const budget = new ReceiveBudget(limits)
  const windows = Array.from({ length: 1_000 }, () => new ReceiveWindow(budget))
  const promised = windows.map(({ firstBytes }) => firstBytes)
  let bytes = promised.reduce((sum, one) => sum + one, 0)
  const bound = limits.bufferedBytesMax + windows.length * limits.streamWindowBytesMin
  for (let round = 0; round < 20; round += 1) {
    for (const [index, window] of windows.entries()) {
      const arriving = promised[index] ?? 0
      // Every third reader has stopped after its first window.
      if (index % 3 === 0 && round > 0) continue
      window.onBytes(arriving)
      promised[index] = 0
      if (index % 3 === 0) continue
      promised[index] = window.onRead(arriving)
      bytes += (promised[index] ?? 0) - arriving
      assert.ok(bytes <= bound, `${bytes} bytes may come, want at most ${bound}`)
    }
  }
  assert.ok(budget.bufferedBytes > 0)
  for (const window of windows) window.close()
  assert.deepEqual([budget.bufferedBytes, budget.streams], [0, 0])
  assert.equal(budget.nextWindow(8 * mib), 8 * mib)
})
