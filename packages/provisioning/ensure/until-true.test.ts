import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedClock } from '@skerry/base'
import { StepError } from '../contract/step.ts'
import { untilTrue } from './commands.ts'

const dayMs = 86_400_000

for (const [what, jumpMs] of [
  ['back', -dayMs],
  ['forward', dayMs],
] as const) {
  test(`a step waits for as long as it may while somebody sets the hub's clock ${what}`, async () => {
    const clock = simulatedClock()
    const { signal } = new AbortController()
    let ended = ''
    const waiting = untilTrue(
      async () => false,
      { msMax: 60_000, otherwise: 'it is not Ready' },
      { clock, signal },
    ).catch((error: unknown) => {
      assert.ok(error instanceof StepError)
      ended = error.message
    })
    await clock.advance(10_000)
    clock.jump(jumpMs)
    await clock.advance(45_000)
    assert.equal(ended, '')
    await clock.advance(10_000)
    assert.equal(ended, 'it is not Ready after 60 s')
    await waiting
  })
}
