import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedClock } from '@skerry/base'
import { SlowWatcherError, type StoreEvent } from './store.ts'
import { WatchHub } from './watch-hub.ts'

const never = new AbortController().signal

function eventOf(key: string, modRevision: number, bytes = 1): StoreEvent {
  return {
    type: 'put',
    key,
    value: new Uint8Array(bytes),
    modRevision,
    createRevision: modRevision,
  }
}

function hubWith(bounds = { watcherEventsMax: 3, watcherBytesMax: 1_000 }): WatchHub {
  return new WatchHub(bounds, { clock: simulatedClock(), revision: () => 0 })
}

const prefixCases: readonly { prefix: string; keys: string[]; expected: string[] }[] = [
  { prefix: '', keys: ['/a', '/b'], expected: ['/a', '/b'] },
  { prefix: '/a/', keys: ['/a', '/a/', '/a/b', '/ab'], expected: ['/a/', '/a/b'] },
  { prefix: '/long/prefix/', keys: ['/', '/long'], expected: [] },
]
for (const { prefix, keys, expected } of prefixCases) {
  test(`a watcher of "${prefix}" gets ${expected.length} of ${keys.length} events`, async () => {
    const hub = hubWith({ watcherEventsMax: 10, watcherBytesMax: 1_000 })
    using _other = hub.subscribe({ prefix: '/', afterRevision: 0, signal: never })
    using watcher = hub.subscribe({ prefix, afterRevision: 0, signal: never })
    keys.forEach((key, index) => hub.publish([eventOf(key, index + 1)], index + 1))
    const got: string[] = []
    for (const _ of expected) got.push(...(await watcher.next()).events.map(({ key }) => key))
    assert.deepEqual(got, expected)
    hub.close(new Error('nothing more'))
    await assert.rejects(watcher.next(), /nothing more/)
  })
}

test('a watcher that reads too late is ended; the others go on', async () => {
  const hub = hubWith()
  using slow = hub.subscribe({ prefix: '/', afterRevision: 0, signal: never })
  using other = hub.subscribe({ prefix: '/', afterRevision: 0, signal: never })
  for (let revision = 1; revision <= 3; revision += 1)
    hub.publish([eventOf('/a', revision)], revision)
  for (let count = 0; count < 3; count += 1) await other.next()
  hub.publish([eventOf('/a', 4)], 4)
  await assert.rejects(slow.next(), SlowWatcherError)
  assert.equal((await other.next()).revision, 4)
})

test('large values count against the bound, too', async () => {
  const hub = hubWith()
  using slow = hub.subscribe({ prefix: '/', afterRevision: 0, signal: never })
  hub.publish([eventOf('/a', 1, 600)], 1)
  hub.publish([eventOf('/a', 2, 600)], 2)
  await assert.rejects(slow.next(), SlowWatcherError)
})
