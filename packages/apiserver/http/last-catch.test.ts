import assert from 'node:assert/strict'
import { once } from 'node:events'
import http2 from 'node:http2'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { after, afterEach, before, test } from 'node:test'
import { silentLogger, systemClock, type Logger } from '@skerry/base'
import { askToUpgrade, askTwice, collectUncaught, webhookCertificate } from '@skerry/testing'
import { apiServerLimits } from '../limits-table.ts'
import type { ApiRequest } from '../contract/exchange.ts'
import { createHttpServer, type HttpServer } from './http-server.ts'
import { UnreadBytes } from './unread-bytes.ts'

/**
 * Handlers that answer every error themselves leave none uncaught; these errors would end the
 * process nevertheless.
 */
const uncaught = collectUncaught()
const logged: string[] = []
let server: HttpServer
let client: { url: string; credentials: { ca: string } }

/** Throws like a bug in a handler, at once or later. */
async function fail({ target }: Pick<ApiRequest, 'target'>): Promise<never> {
  if (target.startsWith('/later')) await nextTurn()
  throw new Error('a mistake')
}

const failAtOnce = (): never => {
  throw new Error('a mistake')
}

before(async () => {
  const tls = await webhookCertificate()
  const error: Logger['error'] = (message) => void logged.push(message)
  server = createHttpServer({
    tls: { ...tls, clientCa: tls.ca },
    limits: apiServerLimits,
    clock: systemClock,
    log: { ...silentLogger, error },
    unread: new UnreadBytes(apiServerLimits),
    onRequest: (request) => {
      if (request.target === '/fine') {
        return Promise.resolve({ status: 200, headers: {}, body: Buffer.from('fine') })
      }
      return request.target === '/at-once' ? failAtOnce() : fail(request)
    },
    onUpgrade: (request) => (request.target === '/at-once' ? failAtOnce() : fail(request)),
    onUnreadable: () => undefined,
  })
  const { port } = await server.listen('127.0.0.1', 0)
  client = { url: `https://127.0.0.1:${port}`, credentials: { ca: tls.ca } }
})

afterEach(async () => {
  await nextTurn()
  assert.deepEqual(uncaught.errors, [], 'the process would have ended')
  assert.equal((await askTwice({ ...client, path: '/fine', next: '/fine' })).length, 2)
})

after(async () => {
  uncaught[Symbol.dispose]()
  await server[Symbol.asyncDispose]()
})

for (const path of ['/at-once', '/later']) {
  test(`a handler that throws (${path}) ends its request only, over HTTP/1.1`, async () => {
    logged.length = 0
    const [first] = await askTwice({ ...client, path, next: '/fine' })
    assert.equal(first?.status, 500)
    assert.deepEqual(logged, ['Request handling failed'])
  })

  test(`a handler that throws (${path}) ends its stream only, over HTTP/2`, async () => {
    logged.length = 0
    const session = http2.connect(client.url, client.credentials)
    const ask = async (target: string): Promise<number> => {
      const stream = session.request({ ':path': target })
      let status = 0
      stream.on('response', (head) => (status = Number(head[':status'])))
      stream.resume()
      await once(stream, 'close', { signal: AbortSignal.timeout(10_000) })
      return status
    }
    assert.equal(await ask(path), 500)
    assert.equal(await ask('/fine'), 200)
    assert.deepEqual(logged, ['Request handling failed'])
    session.destroy()
  })

  test(`a handler that throws (${path}) ends its session only, after an upgrade`, async () => {
    logged.length = 0
    assert.equal((await askToUpgrade({ ...client, path }, 'websocket')).length, 0)
    assert.deepEqual(logged, ['Connection handling failed'])
  })
}
