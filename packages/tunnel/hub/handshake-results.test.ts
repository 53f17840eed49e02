import assert from 'node:assert/strict'
import { connect } from 'node:tls'
import { test } from 'node:test'
import { silentLogger } from '@skerry/base'
import { until } from '@skerry/testing'
import { createTunnelScene } from '../testing/tunnel-scene.ts'
import { dialTunnel } from '../agent/tunnel-agent.ts'
import type { HandshakeResult } from './tunnel-server.ts'

const never = new AbortController().signal
const handler = {
  onRequest: () => Promise.reject(new Error('It must not be asked')),
  onUpgrade: () => Promise.reject(new Error('It must not be asked')),
}

test('each handshake is counted once, by how it ended', async () => {
  const results: HandshakeResult[] = []
  const hold = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  await using scene = await createTunnelScene({
    server: {
      acceptsPerSecond: 5,
      onHandshake: (result) => results.push(result),
      async authenticate({ url = '' }) {
        if (url.endsWith('refused')) return { status: 403, reason: 'another cluster' }
        if (url.endsWith('failed')) throw new Error('The directory is away')
        if (url.endsWith('slow')) {
          asked.resolve()
          await hold.promise
        }
        return { identity: 'site-1' }
      },
    },
  })
  const endpoint = await scene.endpoint()
  const dial = (suffix: string) =>
    dialTunnel(
      { ...endpoint, url: `${endpoint.url}/${suffix}` },
      handler,
      { clock: scene.clock, log: silentLogger },
      never,
    )
  await dial('good')
  await assert.rejects(dial('refused'))
  await assert.rejects(dial('failed'))
  const { port } = new URL(endpoint.url)
  const { ca = '', cert = '', key = '' } = endpoint.tls ?? {}
  const strange = connect({ host: 'localhost', port: Number(port), ca, cert, key })
  strange.write(
    'GET /tunnel HTTP/1.1\r\nhost: hub\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-protocol: other.v9\r\n\r\n',
  )
  await Array.fromAsync(strange)
  const slow = assert.rejects(dial('slow'))
  await asked.promise
  await scene.clock.advance(20_000)
  await slow
  hold.resolve()
  for (let count = 0; count < 6; count += 1) await dial('good').catch(() => undefined)
  await until(() => results.includes('busy') && results.includes('late'))
  assert.deepEqual(results.slice(0, 4), ['accepted', 'refused', 'failed', 'version'])
  assert.equal(results.filter((result) => result === 'late').length, 1)
  assert.equal(results.filter((result) => result === 'busy').length, 1)
})
