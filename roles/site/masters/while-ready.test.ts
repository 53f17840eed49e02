import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedClock, until } from '@skerry/testing'
import type { Transport } from '@skerry/client'
import { whileReady } from './while-ready.ts'

/** A server that is ready as long as the test says so. */
function startServer() {
  const state = { isReady: true, asked: 0 }
  const transport: Transport = {
    async send() {
      state.asked += 1
      const status = state.isReady ? 200 : 500
      return { status, headers: {}, body: (async function* () {})() }
    },
  }
  return { state, transport }
}

function startWork() {
  const { state, transport } = startServer()
  const clock = simulatedClock()
  const stop = new AbortController()
  const seen = { begun: 0, ended: 0, lost: 0 }
  const task = async (scope: AbortSignal): Promise<never> => {
    seen.begun += 1
    return new Promise((_resolve, reject) => {
      scope.addEventListener('abort', () => {
        seen.ended += 1
        reject(scope.reason)
      })
    })
  }
  const deps = { transport, clock, onLost: () => void (seen.lost += 1) }
  const running = whileReady(deps, task, stop.signal)
  running.catch(() => undefined)
  /** Lets the server be asked so many times. */
  const looks = async (count: number): Promise<void> => {
    const enough = state.asked + count
    await until(async () => {
      await clock.advance(500)
      return state.asked >= enough
    })
  }
  return { state, clock, stop, seen, running, looks, deps }
}

test('work ends when the server was not ready three times, and begins again with it', async () => {
  const { state, stop, seen, running, looks } = startWork()
  await looks(3)
  assert.deepEqual(seen, { begun: 1, ended: 0, lost: 0 })
  state.isReady = false
  await looks(2)
  state.isReady = true
  await looks(4)
  assert.deepEqual(seen, { begun: 1, ended: 0, lost: 0 }, 'two failures are not enough')
  state.isReady = false
  await looks(5)
  assert.deepEqual(seen, { begun: 1, ended: 1, lost: 1 })
  state.isReady = true
  await looks(2)
  assert.equal(seen.begun, 2)
  stop.abort(new Error('The test is over'))
  await assert.rejects(running, /The test is over/)
  assert.equal(seen.ended, 2)
})

test('work that fails ends the whole, and its error is kept', async () => {
  const { deps, stop } = startWork()
  const failing = whileReady(deps, () => Promise.reject(new Error('broken')), stop.signal)
  await assert.rejects(failing, /broken/)
  stop.abort(new Error('The test is over'))
})

test('work that ends by itself is not begun again', async () => {
  const { deps, stop } = startWork()
  await whileReady(deps, () => Promise.resolve(), stop.signal)
  stop.abort(new Error('The test is over'))
})
