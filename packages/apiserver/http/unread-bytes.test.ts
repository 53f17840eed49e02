import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UnreadBytes } from './unread-bytes.ts'

test('when too much waits, the user who holds the most loses the answer that waits longest', () => {
  const unread = new UnreadBytes({ unreadBytesMax: 100, unreadBytesPerUserMax: 60 })
  const ended: string[] = []
  const open = (user: string, name: string) => unread.open(user, () => void ended.push(name))
  open('mallory', 'm1').add(30)
  open('mallory', 'm2').add(30)
  open('mallory', 'm3').add(30)
  assert.deepEqual(ended, ['m1'], 'more than one user may hold')
  open('alice', 'a1').add(30)
  open('bob', 'b1').add(20)
  assert.deepEqual(ended, ['m1', 'm2'], 'more than all may hold')
  assert.equal(unread.bytes, 80)
  assert.equal(unread.bytesOf('mallory'), 30)
})

test('an answer that is read waits no longer, and one that has ended holds nothing', () => {
  const unread = new UnreadBytes({ unreadBytesMax: 100, unreadBytesPerUserMax: 60 })
  const ended: string[] = []
  const [first, second] = ['first', 'second'].map((name) =>
    unread.open('alice', () => void ended.push(name)),
  )
  first?.add(30)
  second?.add(30)
  first?.remove(30)
  first?.add(30)
  first?.add(10)
  assert.deepEqual(ended, ['second'], 'it is the one that has waited since')
  first?.[Symbol.dispose]()
  first?.add(10)
  assert.equal(unread.bytes, 0)
})
