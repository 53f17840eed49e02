import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AcknowledgedWrites } from './acknowledged-writes.ts'

const first = [{ key: 'a', content: '1' }]
const second = [{ key: 'a', content: '2' }]
const pair = [
  { key: 'b', content: '3' },
  { key: 'c', content: '3' },
]

test('a store must have each acknowledged write, and may have one that was under way', () => {
  const writes = new AcknowledgedWrites()
  writes.begin(first)
  writes.acknowledge(first, 7)
  writes.begin(second)
  assert.deepEqual(writes.check(new Map([['a', '1']])), [])
  writes.begin(second)
  assert.deepEqual(writes.check(new Map([['a', '2']])), [])
  assert.deepEqual(writes.check(new Map([['a', '1']])), [
    'a has another content than was acknowledged',
  ])
  assert.deepEqual(writes.check(new Map()), ['a is lost'])
  assert.equal(writes.count, 1)
})

test('a deleted key stays away, and so does one that nobody wrote', () => {
  const writes = new AcknowledgedWrites()
  const deletion = [{ key: 'a' }]
  for (const write of [first, deletion]) {
    writes.begin(write)
    writes.acknowledge(write)
  }
  assert.deepEqual(writes.check(new Map()), [])
  assert.deepEqual(
    writes.check(
      new Map([
        ['a', '1'],
        ['z', ''],
      ]),
    ),
    [
      'a is there, though it was deleted or never written',
      'z is there, though it was deleted or never written',
    ],
  )
})

test('a write of several keys is there as a whole or not at all', () => {
  const writes = new AcknowledgedWrites()
  writes.begin(pair)
  assert.match(String(writes.check(new Map([['b', '3']]))), /half of a write is there: b, c/)
  writes.begin(pair)
  assert.deepEqual(writes.check(new Map()), [])
})

test('a refused write is nowhere, and the revision never goes back', () => {
  const writes = new AcknowledgedWrites()
  writes.begin(first)
  writes.acknowledge(first, 7)
  writes.begin(second)
  writes.refuse(second)
  const found = new Map([['a', '1']])
  assert.deepEqual(writes.check(found, 6), ['the revision is 6, and 7 was acknowledged'])
  assert.deepEqual(writes.check(found, 7), [])
})
