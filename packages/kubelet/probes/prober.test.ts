import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { once } from 'node:events'
import { test } from 'node:test'
import { systemClock } from '@skerry/base'
import { httpGet, portNumber } from './http-get.ts'
import { countOutcome, initialCount, type ProbeKind } from './probe-count.ts'

const cases: [
  ProbeKind,
  string,
  { successThreshold?: number; failureThreshold?: number },
  string,
][] = [
  ['liveness', '+---', {}, '++++-'],
  ['liveness', '--+--+---', {}, '+++++++++-'],
  ['readiness', '++', {}, '-++'],
  ['readiness', '+-++', { successThreshold: 2 }, '----+'],
  ['readiness', '+-', { failureThreshold: 1 }, '-+-'],
  ['startup', '--+', {}, '???+'],
  ['startup', '---', {}, '???-'],
]

for (const [kind, outcomes, probe, expected] of cases) {
  test(`${kind} ${outcomes} ${JSON.stringify(probe)} gives ${expected}`, () => {
    const signs = { success: '+', failure: '-', unknown: '?' }
    let state = initialCount(kind)
    let seen = signs[state.result]
    for (const outcome of outcomes) {
      state = countOutcome(state, outcome === '+' ? 'success' : 'failure', probe)
      seen += signs[state.result]
    }
    assert.equal(seen, expected)
  })
}

test('a port name means the port of the container', () => {
  const container = { name: 'main', ports: [{ name: 'http', containerPort: 8080 }] }
  assert.equal(portNumber('http', container), 8080)
  assert.equal(portNumber('81', container), 81)
  assert.throws(() => portNumber('nope', container))
})

test('HTTP probes follow redirects on the same host only, and give up in time', async (context) => {
  const server = createServer((request, response) => {
    if (request.url === '/hang') return
    const locations: Record<string, string> = {
      '/moved': '/ok',
      '/away': 'http://example.invalid/',
    }
    const location = locations[request.url ?? '']
    if (location) return response.writeHead(302, { location }).end()
    response.writeHead(request.url === '/ok' ? 200 : 500).end(String(request.headers['x-probe']))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  context.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const get = (path: string, timeoutMs = 5000) =>
    httpGet(
      {
        action: { port, path, httpHeaders: [{ name: 'X-Probe', value: 'yes' }] },
        container: { name: 'main' },
        podIp: '127.0.0.1',
        timeoutMs,
        userAgent: 'test',
        clock: systemClock,
      },
      new AbortController().signal,
    )
  assert.deepEqual(await get('/moved'), { status: 200, body: 'yes' })
  assert.equal((await get('/bad')).status, 500)
  assert.equal((await get('/away')).status, 302)
  await assert.rejects(get('/hang', 50), /deadline exceeded/)
})
