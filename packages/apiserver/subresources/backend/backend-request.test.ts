import assert from 'node:assert/strict'
import { once } from 'node:events'
import { duplexPair, type Duplex } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { test } from 'node:test'
import { systemClock } from '@skerry/base'
import { brokenBodies, collectUncaught } from '@skerry/testing'
import { sendToBackend, type BackendRequest } from './backend-request.ts'

const never = new AbortController().signal

/** Sends a request to a backend that breaks off. Resolves with the connection. */
async function askBroken(request: Partial<BackendRequest>): Promise<Duplex> {
  const [own, backend] = duplexPair()
  const asked = sendToBackend(
    {
      method: 'GET',
      path: '/',
      host: 'web',
      headers: {},
      dial: async () => own,
      clock: systemClock,
      ...request,
    },
    never,
  )
  const refused = assert.rejects(asked, { name: 'StatusError' })
  await nextTurn()
  own.destroy(new Error('read ECONNRESET'))
  await refused
  backend.destroy()
  return own
}

test('a request that HTTP cannot express fails alone, whatever its connection does', async () => {
  using uncaught = collectUncaught()
  const odd: Record<string, Partial<BackendRequest>> = {
    'a path with a space': { path: '/a b' },
    'a header beyond Latin-1': { headers: { a: '\u0100' } },
    'a method with a space': { method: 'GET it' },
    'trailers without pieces': { headers: { trailer: 'x', 'content-length': '0' } },
  }
  for (const [what, request] of Object.entries(odd)) {
    const own = await askBroken(request)
    if (!own.closed) await once(own, 'close')
    await nextTurn()
    assert.deepEqual(uncaught.errors, [], what)
  }
})

test('the signal ends the connection after the answer, and after a switch of protocols', async () => {
  using uncaught = collectUncaught()
  const heads = [
    'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n',
    'HTTP/1.1 101 Switching\r\nconnection: Upgrade\r\nupgrade: x\r\n\r\n',
  ]
  for (const head of heads) {
    const [own, backend] = duplexPair()
    const stop = new AbortController()
    const headers = { connection: 'Upgrade', upgrade: 'x' }
    const dial = async (): Promise<Duplex> => own
    const request = { method: 'GET', path: '/', host: 'web', headers, dial, clock: systemClock }
    const asked = sendToBackend(request, stop.signal)
    backend.write(head)
    await asked
    stop.abort(new Error('enough'))
    await turns(3)
    assert.equal(own.destroyed, true, head)
  }
  assert.deepEqual(uncaught.errors, [])
})

type Body = AsyncIterable<Uint8Array>

/** Counts the timers of this process, which would keep it alive. */
function timers(): number {
  return process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length
}

/** Waits until the request is refused; otherwise it would wait seconds for its answer. */
async function refusalOf(
  own: Duplex,
  { body, signal = never }: { body?: Body; signal?: AbortSignal },
): Promise<string> {
  const asked = sendToBackend(
    {
      method: 'POST',
      path: '/',
      host: 'web',
      headers: {},
      dial: async () => own,
      clock: systemClock,
      ...(body ? { body } : {}),
    },
    signal,
  )
  const settled = asked.then(
    () => 'answered',
    (error: Error) => error.message,
  )
  return Promise.race([settled, turns(50).then(() => 'still waiting')])
}

test('a body that breaks off ends its request at once, and leaves neither connection nor timer', async () => {
  using uncaught = collectUncaught()
  const before = timers()
  for (const [what, makeBody] of Object.entries(brokenBodies)) {
    const [own, backend] = duplexPair()
    assert.match(await refusalOf(own, { body: makeBody() }), /^error dialing backend: /, what)
    await turns(3)
    assert.deepEqual([own.destroyed, timers()], [true, before], what)
    assert.deepEqual(uncaught.errors, [], what)
    backend.destroy()
  }
})

test('a request that is given up as it begins ends at once, and leaves neither connection nor timer', async () => {
  using uncaught = collectUncaught()
  const before = timers()
  for (let turn = 0; turn < 4; turn += 1) {
    const [own, backend] = duplexPair()
    const stop = new AbortController()
    if (turn === 0) stop.abort(new Error('given up'))
    else void turns(turn - 1).then(() => stop.abort(new Error('given up')))
    assert.equal(await refusalOf(own, { signal: stop.signal }), 'given up', `turn ${turn}`)
    await turns(3)
    assert.deepEqual([own.destroyed, timers()], [true, before], `turn ${turn}`)
    assert.deepEqual(uncaught.errors, [], `turn ${turn}`)
    backend.destroy()
  }
})

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await nextTurn()
}
