/** Tests of a tunnel's way through networks between agent and hub. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { test } from 'node:test'
import { silentLogger, simulatedClock, systemClock } from '@skerry/base'
import { serveTunnel, type TunnelHandler } from '../session/agent-session.ts'
import { acceptTunnel } from '../session/hub-session.ts'
import { memoryLinks } from '../testing/memory-link.ts'
import { dialTunnel } from './tunnel-agent.ts'
import { TunnelDialError } from '../web-socket/tunnel-dial-error.ts'
import { validateTunnelLimits } from '../frame/validate-tunnel-limits.ts'
import type { TunnelLink } from '../frame/tunnel-link.ts'

const never = new AbortController().signal
const log = silentLogger
const unused: TunnelHandler = {
  onRequest: () => Promise.reject(new Error('nobody asks')),
  onUpgrade: () => Promise.reject(new Error('nobody asks')),
}

async function serve(listener: RequestListener) {
  const server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  return {
    url: `ws://127.0.0.1:${address.port}/tunnel`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const strangers: readonly { what: string; listener: RequestListener; words: RegExp }[] = [
  {
    what: 'a captive portal’s page',
    listener: (_request, response) => {
      response.setHeader('content-type', 'text/html; charset=utf-8')
      response.end('<html>Please sign in</html>')
    },
    words:
      /not the hub but something else answers at 127\.0\.0\.1:\d+, with 200 OK and a web page; .*captive portal/,
  },
  {
    what: 'a captive portal that leads elsewhere',
    listener: (_request, response) => {
      response.writeHead(302, { location: 'http://portal.example/' }).end()
    },
    words: /something else answers .*, with 302 Found; .*captive portal/,
  },
  {
    what: 'a proxy’s page of errors',
    listener: (_request, response) => {
      response.writeHead(503, { 'content-type': 'text/html' }).end('<html>down</html>')
    },
    words: /something else answers .*, with 503 Service Unavailable and a web page/,
  },
  {
    what: 'a hub that refuses',
    listener: (_request, response) => {
      response.writeHead(403, { 'content-type': 'application/json' }).end('{}')
    },
    words: /^Cannot open tunnel: the hub answered 403 Forbidden$/,
  },
]
for (const { what, listener, words } of strangers) {
  test(`${what} in place of a handshake is reported as such`, async () => {
    await using server = await serve(listener)
    const dialing = dialTunnel({ url: server.url }, unused, { clock: systemClock, log }, never)
    await assert.rejects(dialing, (error) => {
      assert.ok(error instanceof TunnelDialError, String(error))
      assert.match(error.message, words)
      return true
    })
  })
}

test('an idle tunnel is never silent for 15 s in either direction: routers forget after 30 s', async () => {
  const clock = simulatedClock()
  const { near, far } = memoryLinks()
  const spoken = { agent: [0], hub: [0] }
  const noting = (link: TunnelLink, times: number[]): TunnelLink => ({
    ...link,
    closed: link.closed,
    ping(payload) {
      times.push(clock.monotonicMs())
      link.ping(payload)
    },
  })
  const deps = { clock, log }
  const agent = serveTunnel(noting(near, spoken.agent), unused, validateTunnelLimits(), deps)
  const hub = acceptTunnel(noting(far, spoken.hub), {}, deps)
  for (let seconds = 0; seconds < 300; seconds += 1) await clock.advance(1_000)
  assert.ok(hub.isOpen)
  for (const [who, times] of Object.entries(spoken)) {
    const pauses = [...times.slice(1), clock.monotonicMs()].map((ms, at) => ms - (times[at] ?? 0))
    assert.ok(Math.max(...pauses) <= 15_000, `${who}: ${pauses.join(' ')}`)
  }
  agent.close('done')
  await hub.closed
})
