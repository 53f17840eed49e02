import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '@skerry/base'
import { simulatedClock } from '@skerry/testing'
import { WorkQueue, type WorkQueueOptions } from './work-queue.ts'

const signal = new AbortController().signal

function start(options: Partial<WorkQueueOptions> = {}) {
  const clock = simulatedClock()
  const random = { ...seededRandom(1), next: () => 0 }
  return { clock, queue: new WorkQueue(options, { clock, random }) }
}

test('a key that is added twice is taken once', async () => {
  const { queue } = start()
  queue.add('a')
  queue.add('b')
  queue.add('a')
  assert.deepEqual([await queue.take(signal), await queue.take(signal)], ['a', 'b'])
  assert.equal(queue.length, 0)
})

test('a key that is added while it is held comes again after done, never at the same time', async () => {
  const { queue } = start()
  queue.add('a')
  await queue.take(signal)
  queue.add('a')
  queue.add('a')
  assert.equal(queue.length, 0)
  queue.done('a')
  assert.equal(await queue.take(signal), 'a')
  queue.done('a')
  assert.ok(queue.isIdle)
})

test('the most urgent of the ready keys comes first, and the oldest of several', async () => {
  const urgent: Readonly<Record<string, number>> = { b: 1, d: 7, e: 7 }
  const { queue } = start({ priorityOf: (key) => urgent[key] ?? 0 })
  for (const key of ['a', 'b', 'c', 'd', 'e']) queue.add(key)
  const taken: string[] = []
  while (queue.length > 0) taken.push(await queue.take(signal))
  assert.deepEqual(taken, ['d', 'e', 'b', 'a', 'c'])
})

test('the shortest of several delays counts', async () => {
  const { clock, queue } = start()
  queue.addAfter('a', 500)
  queue.addAfter('a', 200)
  queue.addAfter('a', 900)
  await clock.advance(199)
  assert.equal(queue.length, 0)
  await clock.advance(1)
  assert.equal(queue.length, 1)
  await clock.advance(10_000)
  assert.equal(queue.length, 1)
})

test('failures of a key wait twice as long each time, up to the limit, and a success forgets them', async () => {
  const { clock, queue } = start({ maxDelayMs: 30 })
  const waits: number[] = []
  const fail = async (): Promise<void> => {
    queue.retry('a')
    for (let waited = 0; ; waited++) {
      if (queue.length > 0) {
        waits.push(waited)
        queue.done(await queue.take(signal))
        return
      }
      await clock.advance(1)
    }
  }
  for (let round = 0; round < 5; round++) await fail()
  queue.forget('a')
  await fail()
  assert.deepEqual(waits, [5, 10, 20, 30, 30, 5])
})

test('retries of all keys together keep to a rate', async () => {
  const { clock, queue } = start({ baseDelayMs: 1, retriesPerSecond: 10, retriesBurst: 2 })
  for (const key of ['a', 'b', 'c', 'd']) queue.retry(key)
  await clock.advance(10)
  assert.equal(queue.length, 2)
  await clock.advance(100)
  assert.equal(queue.length, 3)
  await clock.advance(100)
  assert.equal(queue.length, 4)
})

test('a taker that waits ends with its signal and takes nothing from others', async () => {
  const { queue } = start()
  const controller = new AbortController()
  const waiting = queue.take(controller.signal)
  const other = queue.take(signal)
  controller.abort(new Error('stopped'))
  await assert.rejects(waiting, { message: 'stopped' })
  queue.add('a')
  assert.equal(await other, 'a')
})

test('a key that is due later comes at once when the wall clock was set, and once', async () => {
  const { clock, queue } = start()
  queue.addAfter('a', 1_000)
  queue.addAfter('b', 365 * 86_400_000)
  queue.addDelayed()
  assert.deepEqual([await queue.take(signal), await queue.take(signal)], ['a', 'b'])
  queue.done('a')
  queue.done('b')
  await clock.advance(10_000)
  assert.ok(queue.isIdle)
})
