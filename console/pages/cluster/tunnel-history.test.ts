import assert from 'node:assert/strict'
import { test } from 'node:test'
import { historyFacts, linePath, stateRuns } from './tunnel-history.ts'

const size = { width: 100, height: 10 }

test('a line is interrupted where nothing is known', () => {
  assert.equal(linePath([0, 5, null, 10, 20], 10, size), 'M0 10h0L25 5M75 0h0L100 0')
  assert.equal(linePath([null, 3, null], 0, size), 'M50 10h0')
  assert.equal(linePath([], 10, size), '')
})

test('times of one state are one bar', () => {
  assert.deepEqual(stateRuns([null, null, 1, 0]), [
    { state: 'unknown', from: 0, width: 0.5 },
    { state: 'open', from: 0.5, width: 0.25 },
    { state: 'away', from: 0.75, width: 0.25 },
  ])
  assert.deepEqual(stateRuns([]), [])
})

test('an hour is summed up in words that a reader without eyes gets, too', () => {
  const facts = historyFacts({
    step: 10,
    until: 0,
    state: [null, 1, 1, 0, 0, 1, 0, 1],
    rtt: [null, 20, 40, null, null, 30, null, 900],
    up: [null, 5, 70, 0],
    down: [],
  })
  assert.deepEqual(facts, {
    connected: 4 / 7,
    breaks: 2,
    rttMedianMs: 30,
    rttMaxMs: 900,
    upMax: 70,
    downMax: 0,
  })
  const nothing = { step: 10, until: 0, state: [], rtt: [], up: [], down: [] }
  assert.deepEqual(historyFacts(nothing).connected, undefined)
  assert.deepEqual(historyFacts(nothing).rttMedianMs, undefined)
})
