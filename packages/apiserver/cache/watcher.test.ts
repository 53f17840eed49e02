import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { encodeCanonical } from '@skerry/bodies'
import { simulatedClock } from '@skerry/testing'
import { apiServerLimits } from '../limits-table.ts'
import { CachedObject } from './cached-object.ts'
import { PushTurns } from './push-turns.ts'
import { lastSeen, ResourceCache, type CacheEvent, type HistoryLimits } from './resource-cache.ts'
import { Watcher, type Frames, type WatcherOptions } from './watcher.ts'

const utf8 = new TextEncoder()

/** Parses one event of a resource: `+name` for a put, `-name` for a delete. */
function eventOf(cache: ResourceCache, text: string, revision: number): CacheEvent {
  const key = text.slice(1)
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: key } }
  const value = utf8.encode(encodeCanonical(object))
  return {
    type: text.startsWith('+') ? 'put' : 'delete',
    revision,
    object: new CachedObject(key, { value, revision, createRevision: 1 }),
    previous: cache.get(key),
  }
}

const frames: Frames = {
  event: (type, object) => utf8.encode(`${type} ${object.key}@${object.revision};`),
  bookmark: (revision) => utf8.encode(`BOOKMARK @${revision};`),
  error: ({ message }) => utf8.encode(`ERROR ${message};`),
}

function watch(cache: ResourceCache, options: Partial<WatcherOptions>, limits = apiServerLimits) {
  const stop = new AbortController()
  const clock = simulatedClock()
  const closed: string[] = []
  const watcher = new Watcher(
    {
      resource: cache,
      frames,
      isSelected: () => true,
      initial: [],
      replay: [],
      initialBookmark: undefined,
      wantsBookmarks: false,
      timeoutMs: 60_000,
      revision: () => 99,
      ...options,
    },
    {
      clock,
      limits,
      pushTurns: new PushTurns(clock),
      onClose: (reason) => closed.push(reason),
    },
    stop.signal,
  )
  return { watcher, clock, stop, closed }
}

async function read(watcher: Watcher): Promise<string> {
  let text = ''
  for await (const part of watcher) text += Buffer.from(part).toString()
  return text
}

const newCache = (limits: Partial<HistoryLimits> = {}) =>
  new ResourceCache(1, {
    historyEventsMax: 10,
    historyBytesMax: 1_000_000,
    historyEventsMin: 2,
    ...limits,
  })

function happen(cache: ResourceCache, ...texts: string[]): void {
  for (const text of texts) cache.apply(eventOf(cache, text, cache.version + 1))
}

test('a watch shows changes in order and ends when its time is over', async () => {
  const cache = newCache()
  const { watcher, clock, closed } = watch(cache, { wantsBookmarks: true })
  happen(cache, '+a', '+a', '-a')
  await clock.advance(60_000)
  assert.equal(await read(watcher), 'ADDED a@2;MODIFIED a@3;DELETED a@4;BOOKMARK @99;')
  assert.deepEqual(closed, ['timeout'])
  assert.equal(cache.listenerCount, 0)
})

test('an object that ceases to be selected is deleted for the watcher', async () => {
  const cache = newCache()
  const { watcher, clock } = watch(cache, { isSelected: ({ revision }) => revision !== 3 })
  happen(cache, '+a', '+a', '+a')
  await clock.advance(60_000)
  assert.equal(await read(watcher), 'ADDED a@2;DELETED a@3;ADDED a@4;')
})

test('a watch from a future version shows the events after it', async () => {
  const cache = newCache()
  const { watcher, clock } = watch(cache, { afterRevision: 3 })
  happen(cache, '+a', '+b', '+c')
  await clock.advance(60_000)
  assert.equal(await read(watcher), 'ADDED c@4;')
})

test('a watcher that no longer sees an object gets its former state, at the version of the change', () => {
  const cache = newCache()
  const metadata = { name: 'a', labels: { tier: 'front' } }
  const value = utf8.encode(encodeCanonical({ apiVersion: 'v1', kind: 'ConfigMap', metadata }))
  const previous = new CachedObject('a', { value, revision: 9, createRevision: 9 })
  const { object } = eventOf(cache, '+a', 10_000)
  const seen = lastSeen({ type: 'put', revision: 10_000, object, previous })
  assert.deepEqual(seen.object.metadata, { ...metadata, resourceVersion: '10000' })
  assert.deepEqual(previous.object.metadata, { ...metadata, resourceVersion: '9' })
})

test('a reader that falls too far behind is cut off and keeps nothing in memory', async () => {
  const cache = newCache()
  const limits = { ...apiServerLimits, watcherEventsMax: 2 }
  const { watcher, closed } = watch(cache, {}, limits)
  happen(cache, '+a', '+b', '+c')
  assert.deepEqual(closed, ['slow'])
  assert.equal(await read(watcher), '')
})

/** Creates a socket that accepts writes until it is set to be full. */
function fakeSink() {
  const written: string[] = []
  const sink = {
    isFull: false,
    onDrain: () => undefined as void,
    write(parts: readonly Uint8Array[]) {
      written.push(parts.map((part) => Buffer.from(part).toString()).join(''))
      return !sink.isFull
    },
    end: () => void written.push('END'),
  }
  return { sink, written }
}

test('events of one turn are written in one piece, and none while the reader is behind', async () => {
  const cache = newCache()
  const { watcher, stop } = watch(cache, {})
  const { sink, written } = fakeSink()
  watcher.pushTo(sink)
  happen(cache, '+a', '+b')
  await nextTurn()
  assert.deepEqual(written, ['ADDED a@2;ADDED b@3;'])
  sink.isFull = true
  happen(cache, '+c')
  await nextTurn()
  happen(cache, '+d')
  await nextTurn()
  assert.equal(written.length, 2)
  sink.isFull = false
  sink.onDrain()
  assert.deepEqual(written.slice(1), ['ADDED c@4;', 'ADDED d@5;'])
  stop.abort(new Error('gone'))
  await nextTurn()
  assert.equal(written.at(-1), 'END')
})

test('a pushed watch that is never read is ended, whatever it still had to send', async () => {
  const cache = newCache()
  const { watcher, closed } = watch(cache, {}, { ...apiServerLimits, watcherEventsMax: 2 })
  const { sink, written } = fakeSink()
  watcher.pushTo(sink)
  sink.isFull = true
  happen(cache, '+a')
  await nextTurn()
  happen(cache, '+b', '+c', '+d')
  await nextTurn()
  assert.deepEqual(closed, ['slow'])
  assert.deepEqual(written, ['ADDED a@2;', 'END'])
})

test('a client that goes away ends its watch', async () => {
  const cache = newCache()
  const { watcher, stop, closed } = watch(cache, {})
  const reading = read(watcher)
  stop.abort(new Error('gone'))
  assert.equal(await reading, '')
  assert.deepEqual([closed, cache.listenerCount], [['gone'], 0])
})

test('history is kept for a while, and a watch from before it gets an error that says so', () => {
  const cache = newCache({ historyEventsMax: 4 })
  happen(cache, '+a', '+b', '+c', '+d', '+e')
  assert.deepEqual(
    cache.eventsAfter(4)?.map(({ revision }) => revision),
    [5, 6],
  )
  assert.equal(cache.oldestRevision, 2)
  assert.equal(cache.eventsAfter(1), undefined)
})

test('history of large objects is shorter, but never shorter than watches need to resume', () => {
  const cache = newCache({ historyEventsMax: 1_000, historyBytesMax: 10_000, historyEventsMin: 8 })
  const bytes = (): number =>
    (cache.eventsAfter(cache.oldestRevision) ?? []).reduce(
      (sum, { object }) => sum + object.bytes.length,
      0,
    )
  for (let number = 0; number < 500; number += 1) {
    happen(cache, `+${'x'.repeat(100)}`)
    assert.ok(bytes() <= 10_000)
  }
  assert.ok(bytes() > 5_000)
  for (let number = 0; number < 50; number += 1) happen(cache, `+${'x'.repeat(5_000)}`)
  const left = cache.eventsAfter(cache.oldestRevision)?.length ?? 0
  assert.ok(left >= 8 && left <= 10, `${left} are left`)
})

test('history keeps no parsed objects', () => {
  const cache = newCache()
  happen(cache, '+a')
  const before = cache.get('a')
  const parsed = before?.object
  assert.equal(before?.object, parsed)
  happen(cache, '+a')
  assert.notEqual(before?.object, parsed)
  assert.deepEqual(before?.object, parsed)
})

test('objects are listed in the order of their keys, whatever order they came in', () => {
  const cache = newCache()
  happen(cache, '+n/c', '+n/a', '+m/x', '+n/b', '-n/c', '+n-1/z')
  const keys = (namespace?: string) => cache.list(namespace).map(({ key }) => key)
  assert.deepEqual(keys(), ['m/x', 'n-1/z', 'n/a', 'n/b'])
  assert.deepEqual(keys('n'), ['n/a', 'n/b'])
  assert.deepEqual(keys('o'), [])
})

test('a watch of one place is not asked about objects of others, and misses none of its own', async () => {
  const cache = newCache()
  const asked: string[] = []
  const isSelected = ({ key }: CachedObject): boolean => {
    asked.push(key)
    return true
  }
  const places = { all: '', namespace: 'a/', object: 'a/x', cluster: 'node' }
  const watches = Object.entries(places).map(([name, place]) => ({
    name,
    ...watch(cache, { place, ...(place === '' ? {} : { isSelected }) }),
  }))
  happen(cache, '+a/x', '+a/y', '+b/x', '+node', '-a/x', '-b/x')
  for (const { clock } of watches) await clock.advance(60_000)
  const seen = await Promise.all(
    watches.map(async ({ name, watcher }) => [name, await read(watcher)] as const),
  )
  assert.deepEqual(Object.fromEntries(seen), {
    all: 'ADDED a/x@2;ADDED a/y@3;ADDED b/x@4;ADDED node@5;DELETED a/x@6;DELETED b/x@7;',
    namespace: 'ADDED a/x@2;ADDED a/y@3;DELETED a/x@6;',
    object: 'ADDED a/x@2;DELETED a/x@6;',
    cluster: 'ADDED node@5;',
  })
  assert.ok(!asked.includes('b/x'))
  assert.equal(cache.listenerCount, 0)
})

test('thousands of watches take several turns, and between these others are served', async () => {
  const clock = simulatedClock()
  let writtenMs = 0
  const turns = new PushTurns({ ...clock, monotonicMs: () => clock.monotonicMs() + writtenMs })
  const done: number[] = []
  const tasks = Array.from({ length: 10 }, (_, number) => () => {
    // Writing to many sockets takes this long.
    writtenMs += 8
    done.push(number)
  })
  for (const task of tasks) turns.schedule(task)()
  await nextTurn()
  assert.ok(done.length < tasks.length, `${done.length} wrote in one turn`)
  for (let turn = 0; turn < 100 && done.length < tasks.length; turn += 1) {
    await clock.advance(20)
    await nextTurn()
  }
  assert.deepEqual(done, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
})
