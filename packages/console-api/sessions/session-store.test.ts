import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedClock } from '@skerry/base'
import { startTestApiServer } from '@skerry/testing'
import { consoleBounds } from '../limits-table.ts'
import { SessionStore } from './session-store.ts'

const { idleMs, lifetimeMs, codeMs } = consoleBounds.sessions
const rita = { name: 'rita', uid: '' }
const source = { token: 'a.b' }
const minuteMs = 60_000
const secrets = { group: '', resource: 'secrets' }

async function openStore() {
  const server = await startTestApiServer()
  const clock = simulatedClock()
  const sessions = new SessionStore({ objects: server.objects, hubKey: Buffer.alloc(32, 1), clock })
  const kept = (): number => server.objects.list(secrets, 'skerry-sessions').length
  return { clock, sessions, kept, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

test('a session ends half an hour after its last request', async () => {
  await using scene = await openStore()
  const { clock, sessions, kept } = scene
  const { secret } = await sessions.begin(source, rita, '192.0.2.7')
  clock.jump(idleMs - 1)
  const known = sessions.find(secret)
  assert.equal(known?.record.user.name, 'rita')
  await sessions.touch(known.record)
  clock.jump(idleMs - 1)
  assert.ok(sessions.find(secret))
  clock.jump(1)
  assert.equal(sessions.find(secret), undefined)
  assert.equal(kept(), 1)
  await sessions.sweep()
  assert.equal(kept(), 0)
})

test('a session that is used all day ends twelve hours after the login', async () => {
  await using scene = await openStore()
  const { clock, sessions } = scene
  const { secret } = await sessions.begin(source, rita, '192.0.2.7')
  const stepMs = 20 * minuteMs
  for (let passedMs = stepMs; passedMs < lifetimeMs; passedMs += stepMs) {
    clock.jump(stepMs)
    const known = sessions.find(secret)
    assert.ok(known, `after ${passedMs / minuteMs} minutes`)
    await sessions.touch(known.record)
  }
  clock.jump(stepMs)
  assert.equal(sessions.find(secret), undefined)
})

test('a login code that nobody used ends after ten minutes', async () => {
  await using scene = await openStore()
  const { clock, sessions, kept } = scene
  const { secret } = await sessions.createCode(source, rita)
  clock.jump(codeMs)
  assert.equal(await sessions.takeCode(secret), undefined)
  await sessions.sweep()
  assert.equal(kept(), 0)
})
