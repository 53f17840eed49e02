import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countingClock } from '../testing/counting-clock.ts'
import { Deadlines } from './deadlines.ts'

function openScene() {
  const { clock, counting, timers } = countingClock()
  const late: string[] = []
  const deadlines = new Deadlines<string>(counting, (request) => late.push(request))
  return { clock, deadlines, late, timers }
}

test('a request ends at its deadline, and one that is over does not', async () => {
  const { clock, deadlines, late } = openScene()
  deadlines.add('minute', 60_000)
  deadlines.add('second', 1_000)
  deadlines.add('over', 1_000)
  deadlines.add('two', 2_000)
  deadlines.delete('over')
  await clock.advance(998)
  assert.deepEqual(late, [])
  await clock.advance(3)
  assert.deepEqual(late, ['second'])
  await clock.advance(1_001)
  assert.deepEqual(late, ['second', 'two'])
  await clock.advance(58_001)
  assert.deepEqual(late, ['second', 'two', 'minute'])
})

test('a deadline that is set while others pass counts, too', async () => {
  const { clock, deadlines, late } = openScene()
  deadlines.add('first', 100)
  await clock.advance(200)
  deadlines.add('second', 100)
  await clock.advance(101)
  assert.deepEqual(late, ['first', 'second'])
})

test('requests that end in time take no timers of their own', async () => {
  const { clock, deadlines, late, timers } = openScene()
  for (let at = 0; at < 10_000; at += 1) {
    deadlines.add(`request ${at}`, 60_000)
    await clock.advance(1)
    deadlines.delete(`request ${at}`)
  }
  await clock.advance(120_000)
  assert.deepEqual(late, [])
  assert.ok(timers() < 5, String(timers()))
})
