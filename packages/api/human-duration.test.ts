import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ageOf, humanDuration } from './human-duration.ts'

test('a duration is shown with the precision that kubectl gives it', () => {
  const second = 1000
  const minute = 60 * second
  const hour = 60 * minute
  const day = 24 * hour
  const table: [ms: number, text: string][] = [
    [-5 * second, '<invalid>'],
    [-1.5 * second, '0s'],
    [0, '0s'],
    [119.9 * second, '119s'],
    [2 * minute, '2m'],
    [9 * minute + 59 * second, '9m59s'],
    [10 * minute + 30 * second, '10m'],
    [179 * minute, '179m'],
    [3 * hour, '3h'],
    [7 * hour + 59 * minute, '7h59m'],
    [47 * hour + 59 * minute, '47h'],
    [2 * day, '2d'],
    [7 * day + 23 * hour, '7d23h'],
    [8 * day + 5 * hour, '8d'],
    [729 * day, '729d'],
    [730 * day, '2y'],
    [2 * 365 * day + 30 * day, '2y30d'],
    [8 * 365 * day + 40 * day, '8y'],
  ]
  for (const [ms, text] of table) assert.equal(humanDuration(ms), text, `${ms} ms`)
})

test('an age without a time is unknown', () => {
  assert.equal(ageOf(undefined, 0), '<unknown>')
  assert.equal(ageOf(null, 0), '<unknown>')
  assert.equal(ageOf('2026-01-01T00:00:00Z', Date.parse('2026-01-01T00:01:00Z')), '60s')
})
