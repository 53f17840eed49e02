import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { connect } from 'node:tls'
import { StatusError } from '@skerry/api'
import { createMetrics, silentLogger, systemClock } from '@skerry/base'
import { collectUncaught, webhookCertificate } from '@skerry/testing'
import { FakeRuntime } from '../testing/fake-runtime.ts'
import { startKubeletServer } from './kubelet-server.ts'

/** Returns what the server answers to these bytes without a client certificate, until it closes the connection. */
async function said(port: number, text: string): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false })
  socket.on('error', () => undefined)
  let answer = ''
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')))
  socket.write(text)
  await once(socket, 'close')
  return answer
}

test('a target that is not a path ends its request, and not the node agent', async () => {
  const { ca: clientCa, cert, key } = await webhookCertificate()
  using uncaught = collectUncaught()
  const stop = new AbortController()
  await using server = await startKubeletServer(
    { address: '127.0.0.1', port: 0, tls: { cert, key, clientCa } },
    {
      pods: {
        list: () => [],
        find: () => undefined,
        logDirectory: () => '',
        dataDirectory: () => '',
      },
      runtime: new FakeRuntime({ clock: systemClock }),
      callers: {
        async requireAllowed() {
          throw new StatusError('Unauthorized', 'Unauthorized')
        },
      },
      clock: systemClock,
      log: silentLogger,
      metrics: createMetrics(),
    },
    stop.signal,
  )
  const closing = 'HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'
  const upgrading = 'HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: SPDY/3.1\r\n\r\n'
  for (const target of ['//', '///', 'https://[', '//:x']) {
    assert.match(await said(server.port, `GET ${target} ${closing}`), /^HTTP\/1\.1 400 /, target)
    assert.match(await said(server.port, `POST ${target} ${upgrading}`), /^HTTP\/1\.1 400 /, target)
    assert.match(await said(server.port, `GET /pods ${closing}`), /^HTTP\/1\.1 401 /)
  }
  assert.deepEqual(uncaught.errors, [])
})
