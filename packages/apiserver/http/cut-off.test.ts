import assert from 'node:assert/strict'
import { once } from 'node:events'
import http2 from 'node:http2'
import { request } from 'node:https'
import { after, before, test } from 'node:test'
import { startTestApiServer, until, type TestApiServer } from '@skerry/testing'
import type { Route } from '../contract/route.ts'

const piece = Buffer.alloc(1_000_000)
const cuts: (() => void)[] = []
let open = 0

async function* endless(): AsyncGenerator<Uint8Array> {
  open += 1
  try {
    for (;;) yield piece
  } finally {
    open -= 1
  }
}

const route: Route = {
  prefix: '/endless',
  async serve({ request: { abort } }) {
    cuts.push(() => abort?.(new Error('The reader is too slow')))
    return { status: 200, headers: { 'content-type': 'application/octet-stream' }, body: endless() }
  },
}

let server: TestApiServer
before(async () => {
  server = await startTestApiServer({ routes: [route] })
})
after(() => server[Symbol.asyncDispose]())

const isOver = (): boolean => open === 0

test('an answer whose reader takes nothing ends when its handler aborts, over HTTP/2', async () => {
  const settings = { initialWindowSize: 0 }
  const client = http2.connect(server.url, { ...server.credentials, settings })
  client.on('error', () => undefined)
  const stream = client.request({ ':path': '/endless' })
  stream.on('error', () => undefined)
  await once(stream, 'response')
  await until(() => open === 1)
  const closed = once(stream, 'close')
  cuts.pop()?.()
  await closed
  await until(isOver)
  assert.equal(client.destroyed, false, 'other streams of the connection go on')
  client.destroy()
})

test('an answer whose reader takes nothing ends when its handler aborts, over HTTP/1.1', async () => {
  const sent = request(`${server.url}/endless`, { ...server.credentials, agent: false })
  sent.end()
  const [response] = await once(sent, 'response')
  response.on('error', () => undefined)
  await until(() => open === 1)
  cuts.pop()?.()
  // The kernels hold bytes that the client must read first.
  response.resume()
  await new Promise((resolve) => response.once('close', resolve))
  assert.equal(response.complete, false)
  await until(isOver)
})
