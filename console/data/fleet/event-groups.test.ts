import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventGroups, lastSeenMs, matchesEvent, type EventObject } from './event-groups.ts'

const minute = (at: number): string => new Date(Date.UTC(2026, 10, 28, 10, at)).toISOString()

function event(name: string, at: number, more: Partial<EventObject> = {}): EventObject {
  return {
    metadata: { name },
    involvedObject: { kind: 'Pod', namespace: 'shop', name },
    reason: 'BackOff',
    type: 'Warning',
    lastTimestamp: minute(at),
    message: `of ${name}`,
    ...more,
  }
}

test('events of one reason and kind are one row, with all their objects and the latest message', () => {
  const series = { count: 7, lastObservedTime: minute(9) }
  const rows = eventGroups([
    event('a', 1, { count: 3 }),
    event('b', 2),
    event('a', 0, { series, lastTimestamp: null, eventTime: minute(0) }),
    event('c', 20, { type: 'Normal', reason: 'Scheduled' }),
    event('node', 3, { involvedObject: { kind: 'Node', name: 'node' } }),
  ])
  assert.deepEqual(
    rows.map(({ reason, kind, count, objects, message }) => [
      reason,
      kind,
      count,
      objects,
      message,
    ]),
    [
      ['BackOff', 'Pod', 11, ['shop/a', 'shop/b'], 'of a'],
      ['BackOff', 'Node', 1, ['node'], 'of node'],
      ['Scheduled', 'Pod', 1, ['shop/c'], 'of c'],
    ],
  )
  assert.equal(rows[0]?.lastMs, Date.parse(minute(9)))
})

test('an event without any time comes last and breaks nothing', () => {
  const { lastTimestamp: _, ...timeless } = event('a', 1)
  assert.ok(Number.isNaN(lastSeenMs(timeless)))
  const [row] = eventGroups([timeless, event('b', 1)])
  assert.deepEqual(row?.objects, ['shop/b', 'shop/a'])
})

test('events are found by reason, message, object and writer', () => {
  const found = event('web', 1, { source: { component: 'kubelet' } })
  for (const text of ['', 'backoff shop/web', 'KUBELET', 'of web']) {
    assert.ok(matchesEvent(found, text), text)
  }
  assert.ok(!matchesEvent(found, 'backoff node'))
})
