import assert from 'node:assert/strict'
import { once } from 'node:events'
import { duplexPair, type Duplex } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { test } from 'node:test'
import { collectUncaught } from '@skerry/testing'
import { sendToBackend, type BackendRequest } from './backend-request.ts'

const never = new AbortController().signal

/** Asks a backend that breaks off while it is asked; resolves with the connection. */
async function askBroken(request: Partial<BackendRequest>): Promise<Duplex> {
  const [own, backend] = duplexPair()
  const asked = sendToBackend(
    { method: 'GET', path: '/', host: 'web', headers: {}, dial: async () => own, ...request },
    never,
  )
  const refused = assert.rejects(asked, { name: 'StatusError' })
  await nextTurn()
  own.destroy(new Error('read ECONNRESET'))
  await refused
  backend.destroy()
  return own
}

test('a request that HTTP cannot say fails alone, whatever its connection does', async () => {
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
