import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clockText, lineTimeText, nextChangeMs, spanText } from './time-texts.ts'

test('an age has one unit, two between one hour and ten, and is never negative', () => {
  const table: readonly (readonly [ms: number, en: string, zh: string])[] = [
    [-5_000, '0 s', '0 秒'],
    [12_900, '12 s', '12 秒'],
    [60_000, '1 min', '1 分钟'],
    [3_599_000, '59 min', '59 分钟'],
    [3_600_000, '1 h', '1 小时'],
    [15_000_000, '4 h 10 min', '4 小时 10 分钟'],
    [36_660_000, '10 h', '10 小时'],
    [100_000_000, '27 h', '27 小时'],
    [172_800_000, '2 d', '2 天'],
  ]
  for (const [ms, en, zh] of table) {
    assert.equal(spanText(ms, 'en'), en)
    assert.equal(spanText(ms, 'zh'), zh)
  }
})

test('a moment that is far away has its day, and one of another year the year', () => {
  const nowMs = Date.parse('2026-11-28T12:00:00Z')
  assert.doesNotMatch(clockText(nowMs + 3_600_000, nowMs, 'en'), /Nov/)
  assert.match(clockText(nowMs + 20 * 86_400_000, nowMs, 'en'), /^18 Dec, /)
  assert.match(clockText(nowMs + 360 * 86_400_000, nowMs, 'en'), /Nov 2027/)
})

test('an old age is drawn less often than a young one', () => {
  assert.deepEqual([nextChangeMs(5_000), nextChangeMs(120_000), nextChangeMs(9e6)], [1e3, 1e4, 6e4])
})

test('a line of a log has the time of the viewer, whatever zone its node writes', () => {
  const nanoseconds = lineTimeText('2026-07-01T00:30:05.042999999Z')
  assert.match(nanoseconds, /^\d\d:[03]0:05\.042$|^\d\d:[14]5:05\.042$/)
  assert.equal(lineTimeText('2026-07-01T08:30:05.042+08:00'), nanoseconds)
  assert.equal(lineTimeText(''), '')
})
