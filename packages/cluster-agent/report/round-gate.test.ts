import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RoundGate } from './round-gate.ts'

const never = new AbortController().signal

test('a limited number pass at a time, in the order in which they came, whatever becomes of each', async () => {
  const gate = new RoundGate(2)
  const started: number[] = []
  const ends = [0, 1, 2, 3].map(() => Promise.withResolvers<void>())
  const passing = ends.map((end, index) =>
    gate
      .pass(never, async () => {
        started.push(index)
        await end.promise
      })
      .catch((error: unknown) => error),
  )
  await turn()
  assert.deepEqual(started, [0, 1])
  ends[1]?.reject(new Error('failed'))
  await passing[1]
  await turn()
  assert.deepEqual(started, [0, 1, 2])
  for (const end of ends) end.resolve()
  await Promise.all(passing)
  assert.deepEqual(started, [0, 1, 2, 3])
})

test('a waiter that is stopped waits no longer, and keeps nobody out', async () => {
  const gate = new RoundGate(1)
  const first = Promise.withResolvers<void>()
  const holding = gate.pass(never, () => first.promise)
  const stop = new AbortController()
  const leaving = gate.pass(stop.signal, async () => assert.fail('it has left'))
  stop.abort(new Error('stopped'))
  await assert.rejects(leaving, /stopped/)
  first.resolve()
  await holding
  assert.equal(await gate.pass(never, async () => 'in'), 'in')
})

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
