import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedClock } from '@skerry/base'
import { runCompaction, type CompactionOptions } from './compaction.ts'

const cases: readonly { what: string; options: CompactionOptions; expected: number[] }[] = [
  // The revision grows by 10 each second; a sample is taken each second.
  { what: 'by age', options: { keepMs: 5_000 }, expected: [10, 20, 30] },
  {
    what: 'by count',
    options: { keepMs: 5_000, keepRevisions: 40 },
    expected: [10, 20, 30, 40],
  },
]

for (const { what, options, expected } of cases) {
  test(`history is forgotten ${what}`, async () => {
    const clock = simulatedClock()
    const compacted: number[] = []
    const store = {
      revision: async () => clock.monotonicMs() / 100,
      compact: async (revision: number) => void compacted.push(revision),
    }
    const abort = new AbortController()
    const running = runCompaction(store, options, clock, abort.signal)
    await clock.advance(8_000)
    abort.abort(new Error('stop'))
    await assert.rejects(running, /stop/)
    assert.deepEqual(compacted, expected)
  })
}
