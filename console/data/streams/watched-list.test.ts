import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WatchedList } from './watched-list.ts'

const pod = (name: string, phase = 'Running') => ({
  metadata: { name, namespace: 'default' },
  status: { phase },
})

test('a list is shown when its last part has come, and not before', () => {
  const list = new WatchedList()
  assert.equal(list.take({ id: 1, snapshot: [pod('a')], part: 0, last: false }, 10), false)
  assert.equal(list.view.phase, 'loading')
  list.take({ id: 1, snapshot: [pod('b')], part: 1, last: true, resourceVersion: '7' }, 20)
  assert.equal(list.view.phase, 'live')
  assert.deepEqual([...list.view.items.keys()], ['default/a', 'default/b'])
  assert.equal(list.resourceVersion, '7')
})

test('events add, change and remove', () => {
  const list = new WatchedList()
  list.take({ snapshot: [pod('a'), pod('b')], last: true, resourceVersion: '7' }, 10)
  const events = [
    { t: 'A', o: pod('c') },
    { t: 'M', o: pod('a', 'Failed') },
    { t: 'D', o: pod('b') },
  ] as const
  assert.ok(list.take({ events, resourceVersion: '10' }, 20))
  assert.deepEqual(
    [...list.view.items].map(([key, value]) => [
      key,
      (value as ReturnType<typeof pod>).status.phase,
    ]),
    [
      ['default/a', 'Failed'],
      ['default/c', 'Running'],
    ],
  )
  assert.equal(list.resourceVersion, '10')
})

test('a second snapshot replaces the first one, and merges nothing', () => {
  const list = new WatchedList()
  list.take({ snapshot: [pod('old')], last: true, resourceVersion: '9' }, 10)
  list.take({ snapshot: [pod('a')], part: 0, last: true, resourceVersion: '3' }, 20)
  assert.deepEqual([...list.view.items.keys()], ['default/a'])
})

test('rows of tables and of the fleet are known by their names', () => {
  const list = new WatchedList()
  const row = { cells: ['web', '1/1'], object: { metadata: { name: 'web', namespace: 'shop' } } }
  list.take({ snapshot: [row, { n: 'shop-7', s: 'ready' }], last: true }, 10)
  assert.deepEqual([...list.view.items.keys()], ['shop/web', 'shop-7'])
})

test('an interrupted list keeps its items and the time at which they were right', () => {
  const list = new WatchedList()
  list.take({ snapshot: [pod('a')], last: true, resourceVersion: '7' }, 10)
  list.interrupt(500, 'The hub is away')
  list.interrupt(900, 'The hub is away')
  assert.equal(list.view.phase, 'stale')
  assert.equal(list.view.asOfMs, 500)
  assert.equal(list.view.items.size, 1)
})

test('a cluster that is away keeps its items, and says since when and until when', () => {
  const list = new WatchedList()
  list.take({ snapshot: [pod('a')], last: true, resourceVersion: '7' }, 10)
  list.take({ state: 'away', message: 'no tunnel', retryAfter: 5 }, 800)
  assert.deepEqual(
    [list.view.phase, list.view.asOfMs, list.view.message, list.view.retryAfterSeconds],
    ['away', 800, 'no tunnel', 5],
  )
  assert.equal(list.view.items.size, 1)
})

test('a list of which nothing was ever known has no age', () => {
  const list = new WatchedList()
  list.take({ state: 'live' }, 10)
  list.take({ state: 'away', message: 'no tunnel' }, 800)
  assert.deepEqual([list.view.phase, list.view.asOfMs], ['away', undefined])
})

test('a refusal ends the list with its reason', () => {
  const list = new WatchedList()
  list.take({ error: { code: 403, reason: 'Forbidden', message: 'no', requestId: 'a1' } }, 10)
  assert.equal(list.view.phase, 'ended')
  assert.ok(list.view.error?.isForbidden)
  assert.equal(list.view.error.facts.requestId, 'a1')
})
