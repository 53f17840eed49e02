import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedClock } from '@skerry/base'
import { healthAnswer } from './health.ts'

test('a check that waits for something has failed after two seconds, and the others are shown', async () => {
  const clock = simulatedClock()
  const { signal } = new AbortController()
  const checks = {
    first: () => new Promise<void>(() => {}),
    second: () => Promise.resolve(),
    third: () => Promise.resolve('the reason'),
  }
  const answering = healthAnswer(['readyz'], checks, {
    query: new URLSearchParams(),
    clock,
    signal,
  })
  await clock.advance(2_000)
  const { status, body } = await answering
  assert.equal(status, 500)
  assert.ok(body instanceof Uint8Array)
  assert.equal(
    Buffer.from(body).toString(),
    `[-]first failed: reason withheld
[+]second ok
[-]third failed: the reason
readyz check failed
`,
  )
})
