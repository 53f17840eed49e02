import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatDurationMs, parseDurationMs } from './duration.ts'

test('durations are read and written as Go does', () => {
  const cases: [string, number, string][] = [
    ['0', 0, '0s'],
    ['0s', 0, '0s'],
    ['1h30m', 5_400_000, '1h30m0s'],
    ['90s', 90_000, '1m30s'],
    ['1.5s', 1500, '1.5s'],
    ['100ms', 100, '100ms'],
    ['-2m', -120_000, '-2m0s'],
    ['15us', 0.015, '15µs'],
  ]
  for (const [text, ms, printed] of cases) {
    assert.equal(parseDurationMs(text), ms, text)
    assert.equal(formatDurationMs(ms), printed, text)
  }
  for (const text of ['', '5', 's', '1d', '1h 3m', '.s']) {
    assert.equal(parseDurationMs(text), undefined, text)
  }
})
