import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WatchedEvent, WatchRecord } from './history.ts'
import { lossFaults, watchFaults } from './watch-order.ts'

const event = (type: WatchedEvent['type'], key: string, revision: number): WatchedEvent => ({
  type,
  key,
  revision,
  value: `${key}${revision}`,
})

const whole: readonly WatchedEvent[] = [
  event('ADDED', 'b', 4),
  event('MODIFIED', 'a', 6),
  event('DELETED', 'b', 7),
  event('ADDED', 'b', 9),
]

function watch(events: readonly WatchedEvent[], changes: Partial<WatchRecord> = {}): WatchRecord {
  const listed = { a: { value: 'a2', revision: 2 } }
  return { watcher: 'w', from: 3, listed, events, until: 9, ...changes }
}

const written = [{ key: 'a', value: 'a6', revision: 6 }]

test('watches that show each version once have no fault, also if one ends earlier', () => {
  const early = watch(whole.slice(0, 2), { watcher: 'early', until: 6 })
  assert.deepEqual(watchFaults([watch(whole), early], written), [])
})

const [first, second, third, fourth] = whole
assert.ok(first && second && third && fourth)

const faulty: Readonly<Record<string, readonly [readonly WatchedEvent[], RegExp]>> = {
  'a version that another watch shows is left out': [
    [first, third, fourth],
    /w: revision 6 \(a = a6\) was not shown/,
  ],
  'an event comes twice': [
    [first, second, second, third, fourth],
    /MODIFIED a at 6 was shown twice/,
  ],
  'it goes back': [[second, first, third, fourth], /ADDED b at 4 came after 6/],
  'an object is added that is there': [
    [first, { ...second, type: 'ADDED' }, third, fourth],
    /ADDED a at 6, but the object was there/,
  ],
  'an object is changed that is not there': [
    [first, second, third, { ...fourth, type: 'MODIFIED' }],
    /MODIFIED b at 9, but the object was not there/,
  ],
  'it shows another value': [
    [first, { ...second, value: 'lie' }, third, fourth],
    /revision 6 is a = lie, elsewhere a = a6/,
  ],
}

for (const [title, [events, fault]] of Object.entries(faulty)) {
  test(`a fault of a watch: ${title}`, () => {
    const faults = watchFaults([watch(events), watch(whole, { watcher: 'other' })], written)
    assert.match(faults.join('\n'), fault)
  })
}

test('an acknowledged write that no watch has shown is a gap', () => {
  const hidden = [{ key: 'c', value: 'c5', revision: 5 }]
  assert.deepEqual(watchFaults([watch(whole)], hidden), ['w: revision 5 (c = c5) was not shown'])
})

test('acknowledged writes are lost if the object is gone, older, or another at that revision', () => {
  const stored = new Map([
    ['kept', { value: 'x', revision: 5 }],
    ['newer', { value: 'y', revision: 8 }],
    ['older', { value: 'w', revision: 4 }],
    ['other', { value: 'q', revision: 5 }],
  ])
  const acknowledged = ['kept', 'newer', 'older', 'other', 'gone'].map((key) => ({
    key,
    value: 'x',
    revision: 5,
  }))
  assert.deepEqual(lossFaults(acknowledged, stored), [
    'older: x was acknowledged at 5, but it is w at 4',
    'other: x was acknowledged at 5, but it is q at 5',
    'gone: x was acknowledged at 5, but it is not there',
  ])
})
