import assert from 'node:assert/strict'
import { test } from 'node:test'
import { momentKey } from './log-moment.ts'

test('moments have the order of time, in any zone and with any number of digits', () => {
  const ordered = [
    '2026-10-25T02:59:59.9+02:00',
    '2026-10-25T01:00:00Z',
    '2026-10-25T02:00:00.00000001+01:00',
    '2026-10-25T01:00:00.1Z',
    '2026-10-25T09:00:00.123+08:00',
  ]
  const keys = ordered.map((time) => momentKey(time) ?? '')
  assert.ok(keys.every((key) => key.length === keys[0]?.length))
  assert.deepEqual(keys.toSorted(), keys)
})

test('two names of one moment are the same', () => {
  assert.equal(momentKey('2026-01-01T08:00:00.5+08:00'), momentKey('2026-01-01T00:00:00.500Z'))
})

test('anything else is not a moment', () => {
  for (const text of [
    '',
    'panic:',
    '2026-01-01',
    '2026-01-01T00:00:00',
    '2026-99-99T00:00:00+01:00',
  ])
    assert.equal(momentKey(text), undefined, text)
})
