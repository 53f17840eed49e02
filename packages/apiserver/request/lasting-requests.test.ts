import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StatusError } from '@skerry/api'
import { silentLogger, simulatedClock } from '@skerry/base'
import { createLastingRequests } from './lasting-requests.ts'

const refused = new StatusError('Forbidden', 'no')
const everyMs = 10_000

function start() {
  const clock = simulatedClock()
  const lasting = createLastingRequests({ everyMs }, { clock, log: silentLogger })
  const stop = new AbortController()
  const running = lasting.run(stop.signal)
  const ended: string[] = []
  const add = (path: string, mayGoOn: () => Promise<void>): Disposable =>
    lasting.add({ path, mayGoOn, end: () => ended.push(path) })
  return {
    clock,
    add,
    ended,
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('the test is over'))
      await assert.rejects(running, /the test is over/)
    },
  }
}

test('a lasting request that would no longer be allowed is ended in time, once', async () => {
  await using scene = start()
  scene.add('/lost', () => Promise.reject(refused))
  scene.add('/kept', async () => undefined)
  await scene.clock.advance(everyMs)
  assert.deepEqual(scene.ended, ['/lost'])
  await scene.clock.advance(3 * everyMs)
  assert.deepEqual(scene.ended, ['/lost'])
})

test('a refusal that is withdrawn, and a failure to find out, end nothing', async () => {
  await using scene = start()
  let looks = 0
  scene.add('/again', async () => {
    looks += 1
    if (looks % 2 === 1) throw refused
  })
  scene.add('/unknown', () => Promise.reject(new StatusError('InternalError', 'webhook away')))
  const gone = scene.add('/gone', () => Promise.reject(refused))
  gone[Symbol.dispose]()
  await scene.clock.advance(5 * everyMs)
  assert.equal(looks, 10)
  assert.deepEqual(scene.ended, [])
})

test('however many there are, only a few are checked at once', async () => {
  await using scene = start()
  let running = 0
  let most = 0
  for (let count = 0; count < 100; count += 1) {
    scene.add('/some', async () => {
      running += 1
      most = Math.max(most, running)
      await Promise.resolve()
      running -= 1
    })
  }
  await scene.clock.advance(everyMs)
  assert.ok(most > 1 && most <= 16, String(most))
})
