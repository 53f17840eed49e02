import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedClock } from '@skerry/base'
import type { BodyShare } from '../contract/body-share.ts'
import { RequestBodies } from './request-bodies.ts'

const never = new AbortController().signal
const limits = {
  bodiesBytesMax: 1_000,
  bodiesBytesPerUserMax: 600,
  largeBodyBytes: 100,
  freeReadBytes: 100,
  readBytesPerPass: 100,
  largeBodiesAtOnceMax: 2,
  largeBodiesOpenMax: 4,
  largeBytesAtOnceMax: 400,
  largeBodyRestMsMax: 10_000,
  largeBodyAwayMs: 1_000,
}

const bounded = (user: string) => ({ user, isBounded: true })

function scene() {
  const clock = simulatedClock()
  const bodies = new RequestBodies(limits, clock)
  const begun: string[] = []
  /** Sends a body of this user. Its name is recorded when it may be processed. */
  const send = (user: string, name: string, bytes = 200, signal = never): BodyShare => {
    const share = bodies.open(bounded(user), signal)
    void share.add(bytes)
    void share.untilItsTurn().then(
      () => begun.push(name),
      () => begun.push(`${name} left`),
    )
    return share
  }
  return { clock, bodies, begun, send }
}

test('bodies beyond the bound of a user or of all users are refused, and leave nothing behind', () => {
  const { bodies } = scene()
  const share = bodies.open(bounded('mallory'), never)
  void share.add(600)
  assert.throws(() => share.add(1), { reason: 'TooManyRequests' })
  using _other = bodies.open(bounded('alice'), never)
  void _other.add(400)
  assert.throws(() => bodies.open(bounded('bob'), never).add(101), { reason: 'TooManyRequests' })
  using _heartbeat = bodies.open(bounded('node'), never)
  void _heartbeat.add(100)
  share[Symbol.dispose]()
  assert.equal(bodies.bytes, 500)
  void bodies.open(bounded('bob'), never).add(500)
})

test('a user works on one large body at a time, and rests as long as it took; others go on', async () => {
  const { clock, begun, send } = scene()
  const first = send('mallory', 'm1')
  const second = send('mallory', 'm2')
  const alice = send('alice', 'a1')
  await clock.advance(3_000)
  assert.deepEqual(begun, ['m1', 'a1'])
  first[Symbol.dispose]()
  alice[Symbol.dispose]()
  send('bob', 'b1')[Symbol.dispose]()
  await clock.advance(2_999)
  assert.deepEqual(begun, ['m1', 'a1', 'b1'])
  await clock.advance(1)
  assert.deepEqual(begun, ['m1', 'a1', 'b1', 'm2'])
  second[Symbol.dispose]()
})

test('a limited number of large bodies is processed at once; a small one never waits', async () => {
  const { clock, begun, send } = scene()
  const shares = ['alice', 'bob', 'carol'].map((user) => send(user, user))
  send('dave', 'small', 100)
  await clock.advance(1)
  assert.deepEqual(begun, ['small', 'alice', 'bob'])
  shares[0]?.[Symbol.dispose]()
  await clock.advance(1)
  assert.deepEqual(begun, ['small', 'alice', 'bob', 'carol'])
})

test('large bodies are worked on together within a bound of bytes, in their order; small ones go on', async () => {
  const { clock, bodies, begun, send } = scene()
  const shares = [send('alice', 'a', 300), send('bob', 'b', 150), send('carol', 'c', 100)]
  send('dave', 'd', 101)
  await clock.advance(900)
  await shares[0]?.pause()
  await clock.advance(900)
  assert.deepEqual(begun, ['c', 'a'], 'b is beyond the bound, and d does not overtake it')
  shares[0]?.[Symbol.dispose]()
  await clock.advance(1)
  assert.deepEqual(begun, ['c', 'a', 'b', 'd'])
  assert.equal(bodies.bytes, 351)
})

test('one body beyond the bound is worked on alone', async () => {
  const { clock, begun, send } = scene()
  const first = send('alice', 'a', 500)
  send('bob', 'b')
  await clock.advance(1)
  assert.deepEqual(begun, ['a'])
  first[Symbol.dispose]()
  await clock.advance(1)
  assert.deepEqual(begun, ['a', 'b'])
})

test('a request that waits for a webhook leaves its room to those that the webhook sends', async () => {
  const { clock, begun, send } = scene()
  send('alice', 'asks a webhook', 400)
  send('webhook', 'sent by it', 400)
  await clock.advance(999)
  assert.deepEqual(begun, ['asks a webhook'])
  await clock.advance(1)
  assert.deepEqual(begun, ['asks a webhook', 'sent by it'])
})

test('requests that wait for webhooks leave their places, up to a bound', async () => {
  const { clock, begun, send } = scene()
  for (const name of ['a', 'b', 'c', 'd', 'e']) send(name, name, 110)
  await clock.advance(999)
  assert.deepEqual(begun, ['a', 'b'])
  await clock.advance(1)
  assert.deepEqual(begun, ['a', 'b', 'c', 'd'])
  await clock.advance(10_000)
  assert.deepEqual(begun, ['a', 'b', 'c', 'd'])
})

test('a request that changes a larger object than its turn allowed for waits for another turn', async () => {
  const { clock, begun, send } = scene()
  const [alice, bob] = [send('alice', 'a', 150), send('bob', 'b', 150)]
  await clock.advance(1)
  assert.deepEqual(begun, ['a', 'b'])
  await bob?.untilItsTurn(100)
  void alice?.untilItsTurn(300).then(() => begun.push('a, larger'))
  await clock.advance(900)
  assert.deepEqual(begun, ['a', 'b'])
  bob?.[Symbol.dispose]()
  await clock.advance(1)
  assert.deepEqual(begun, ['a', 'b', 'a, larger'])
})

test('a request that leaves while it waits gives its place to the next', async () => {
  const { clock, begun, send } = scene()
  const running = [send('alice', 'a'), send('bob', 'b')]
  const leaving = new AbortController()
  send('carol', 'c', 200, leaving.signal)
  send('dave', 'd')
  leaving.abort(new Error('gone'))
  running[0]?.[Symbol.dispose]()
  await clock.advance(1)
  assert.deepEqual(begun, ['a', 'b', 'c left', 'd'])
})
