import assert from 'node:assert/strict'
import { test } from 'node:test'
import { busyDay, dayMs, idleDay, scriptedDay } from './scripted-day.ts'

test('an idle day has a renewal every ten seconds, and a heartbeat every five minutes', () => {
  const writes = scriptedDay(idleDay)
  const leases = writes.filter(({ key }) => key.startsWith('/registry/lease/'))
  assert.equal(leases.length, 8_640)
  assert.equal(writes.length, 8_640 + 288)
  assert.equal(writes.filter(({ isRelaxed }) => !isRelaxed).length, 2)
})

test('a busy day deletes only keys that are there, and its times are in order', () => {
  const living = new Set<string>()
  let lastMs = 0
  for (const { atMs, key, value } of scriptedDay(busyDay)) {
    assert.ok(atMs >= lastMs && atMs < dayMs, `${key} at ${atMs}`)
    lastMs = atMs
    if (value === undefined) assert.ok(living.delete(key), `${key} is deleted, and was not there`)
    else living.add(key)
  }
  const pods = [...living].filter((key) => key.startsWith('/registry/pod/default/shop-'))
  assert.equal(pods.length, busyDay.deployments * busyDay.podsPerDeployment)
})
