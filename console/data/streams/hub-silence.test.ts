import assert from 'node:assert/strict'
import { test } from 'node:test'
import { timeLimits } from '../../limits-table.ts'
import { hubSilence } from './hub-silence.ts'

const sinceMs = 1_000_000
const away = { is: 'away', sinceMs, reason: '' } as const
const of = (afterMs: number, lastAnswerMs: number) =>
  hubSilence(away, { nowMs: sinceMs + afterMs, lastAnswerMs })

test('a hub that answers requests is not said to be away when it refuses the stream of one tab too many', () => {
  assert.deepEqual(of(20_000, sinceMs + 19_000), { is: 'refused', forMs: 20_000 })
  assert.deepEqual(of(20_000, sinceMs - 1), { is: 'away', forMs: 20_000 })
  const oldMs = sinceMs + 1_000
  const laterMs = timeLimits.answerFreshMs + 1_001
  assert.deepEqual(of(laterMs, oldMs), { is: 'away', forMs: laterMs })
})

test('a short break is not mentioned, and neither is a stream that is open', () => {
  assert.equal(of(timeLimits.quietBreakMs, sinceMs + 1), undefined)
  assert.equal(hubSilence({ is: 'open' }, { nowMs: sinceMs, lastAnswerMs: 0 }), undefined)
})
