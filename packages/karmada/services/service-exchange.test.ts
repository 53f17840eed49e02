import assert from 'node:assert/strict'
import { once } from 'node:events'
import { duplexPair, type Duplex } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { test } from 'node:test'
import { collectUncaught } from '@skerry/testing'
import {
  exchangeHttp1,
  exchangeHttp2,
  upgradeHttp1,
  type ServiceRequest,
} from './service-exchange.ts'

const never = new AbortController().signal
const request = { method: 'POST', target: '/', host: 'web', headers: {} }

/** What a service may say before it is asked anything, and then the end of its connection. */
async function breakOff(stream: Duplex, service: Duplex): Promise<void> {
  service.write('no frame of HTTP/2\n'.repeat(8))
  await nextTurn()
  stream.destroy(new Error('the tunnel is gone'))
  if (!stream.closed) await once(stream, 'close')
  await nextTurn()
}

test('a request that HTTP/2 cannot say fails alone, whatever the service does', async () => {
  using uncaught = collectUncaught()
  const odd: readonly ServiceRequest[] = [
    { ...request, headers: { 'content-type': ['application/grpc', 'application/grpc'] } },
    { ...request, headers: { te: ['gzip'] } },
    { ...request, method: 'CONNECT' },
  ]
  for (const each of odd) {
    const [stream, service] = duplexPair()
    await assert.rejects(
      exchangeHttp2(stream, { ...each, isTls: false }, never),
      /ERR_HTTP2|header|connection specific/i,
    )
    await breakOff(stream, service)
    assert.deepEqual(uncaught.errors, [], JSON.stringify(each))
  }
})

test('a request that HTTP/1.1 cannot say fails alone, whatever the service does', async () => {
  using uncaught = collectUncaught()
  const odd = { ...request, target: '/a b' }
  const ways = [
    (stream: Duplex) => exchangeHttp1(stream, odd, never),
    (stream: Duplex) => upgradeHttp1(stream, { ...odd, protocol: 'websocket' }, never),
  ]
  for (const way of ways) {
    const [stream, service] = duplexPair()
    await assert.rejects(way(stream), TypeError)
    await breakOff(stream, service)
    assert.deepEqual(uncaught.errors, [])
  }
})
