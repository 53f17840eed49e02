import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { test } from 'node:test'
import { systemClock, silentLogger } from '@skerry/base'
import { createApiForwarder } from './api-forwarder.ts'

/** An API server that knows one token. */
async function startServer(token: string) {
  const isKnown = ({ headers }: IncomingMessage): boolean =>
    headers.authorization === `Bearer ${token}`
  const sessions = new Set<Duplex>()
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    response.writeHead(isKnown(request) ? 200 : 401).end()
  })
  server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    sessions.add(socket)
    socket.end(`HTTP/1.1 ${isKnown(request) ? 404 : 401} x\r\ncontent-length: 0\r\n\r\n`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A listening TCP server has an address of this shape.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sessions) socket.destroy()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const headers = { 'impersonate-user': 'rita' }
const soon = (): AbortSignal => AbortSignal.timeout(120_000)

test('an agent whose credentials its cluster refuses gets others before the next request', async () => {
  await using server = await startServer('next')
  for (const way of ['request', 'upgrade'] as const) {
    let bearerToken = 'last'
    const credentials = Object.assign(async () => ({ bearerToken }), {
      onRefused: (refused: { bearerToken?: string }) => {
        if (refused.bearerToken === 'last') bearerToken = 'next'
      },
    })
    using forwarder = createApiForwarder(
      { api: { server: server.url, credentials } },
      { clock: systemClock, log: silentLogger },
    )
    const ask = async (): Promise<number> => {
      const asked = { method: 'GET', path: '/api', headers }
      const upgrading = { ...headers, connection: 'Upgrade', upgrade: 'SPDY/3.1' }
      const answer = await (way === 'request'
        ? forwarder.onRequest(asked, soon())
        : forwarder.onUpgrade({ ...asked, headers: upgrading }, soon()))
      if ('body' in answer) await Array.fromAsync(answer.body)
      return answer.status
    }
    // The user's own credentials were good: it is the agent's that are not.
    assert.equal(await ask(), 503, way)
    assert.equal(await ask(), way === 'request' ? 200 : 404, way)
  }
})
