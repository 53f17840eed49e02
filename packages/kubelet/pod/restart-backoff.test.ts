import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  backoffUntilMs,
  formatGoDuration,
  nextBackoff,
  type RestartBackoff,
} from './restart-backoff.ts'

test('the wait doubles from 10 s to 5 min and starts over after a quiet time', () => {
  let backoff: RestartBackoff | undefined
  const delays: number[] = []
  let nowMs = 0
  for (let restart = 0; restart < 7; restart++) {
    const finishedAtMs = nowMs
    nowMs = backoffUntilMs(backoff, finishedAtMs) ?? nowMs
    backoff = nextBackoff(backoff, { finishedAtMs, nowMs })
    delays.push(backoff.delayMs)
  }
  assert.deepEqual(delays, [10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000])
  const later = nowMs + 600_001
  assert.equal(backoffUntilMs(backoff, later), undefined)
  assert.equal(nextBackoff(backoff, { finishedAtMs: later, nowMs: later }).delayMs, 10_000)
})

test('durations read as Go prints them', () => {
  const texts = [0, 250, 10_000, 80_000, 300_000, 3_661_500].map(formatGoDuration)
  assert.deepEqual(texts, ['0s', '250ms', '10s', '1m20s', '5m0s', '1h1m1.5s'])
})
