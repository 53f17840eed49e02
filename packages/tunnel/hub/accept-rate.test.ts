import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom, simulatedClock } from '@skerry/base'
import { AcceptRate } from './accept-rate.ts'
import { refusalPauseMs } from '../agent/tunnel-agent.ts'

const seed = 77
test(`ten thousand agents that come at once are spread over the hub's rate (seed ${seed})`, async () => {
  const clock = simulatedClock()
  const random = seededRandom(seed)
  const perSecond = 500
  const rate = new AcceptRate(perSecond, clock)
  let arrivals = Array.from({ length: 10_000 }, () => random.next() * 1_000)
  const perSecondDials: number[] = []
  const inMs: number[] = []
  for (let second = 0; arrivals.length > 0; second += 1) {
    const due = arrivals.filter((ms) => ms < (second + 1) * 1_000).toSorted((a, b) => a - b)
    arrivals = arrivals.filter((ms) => ms >= (second + 1) * 1_000)
    perSecondDials.push(due.length)
    for (const ms of due) {
      await clock.advance(Math.max(0, ms - clock.monotonicMs()))
      if (rate.take()) inMs.push(ms)
      else arrivals.push(ms + refusalPauseMs(rate.retryAfterS() * 1_000, random))
    }
    assert.ok(second < 120, 'they all come in')
  }
  assert.equal(inMs.length, 10_000)
  // Twenty seconds are the minimum at this rate.
  assert.ok((inMs[9_899] ?? Infinity) < 30_000, `99 % are back after ${inMs[9_899]} ms`)
  const worst = Math.max(...perSecondDials.slice(1))
  assert.ok(worst <= 2 * perSecond, `${worst} dials in one second`)
})

test('each agent gets a time of its own, and none stays away longer than five minutes', () => {
  const rate = new AcceptRate(1, simulatedClock())
  assert.ok(rate.take() && !rate.take())
  assert.deepEqual(
    Array.from({ length: 3 }, () => rate.retryAfterS()),
    [1, 2, 3],
  )
  for (let more = 0; more < 1_000; more += 1) rate.retryAfterS()
  assert.equal(rate.retryAfterS(), 300)
})
