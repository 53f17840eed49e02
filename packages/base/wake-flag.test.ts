import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createWakeFlag } from './wake-flag.ts'

const { signal } = new AbortController()

test('a raise before lower() wakes nobody, and one after it wakes at once', async () => {
  const flag = createWakeFlag()
  flag.raise()
  flag.lower()
  let isAwake = false
  const waiting = flag.wait(signal).then(() => (isAwake = true))
  await new Promise(setImmediate)
  assert.equal(isAwake, false)
  flag.raise()
  await waiting
  flag.raise()
  await flag.wait(signal)
})
