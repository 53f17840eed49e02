import assert from 'node:assert/strict'
import { once } from 'node:events'
import { duplexPair, type Duplex } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { test } from 'node:test'
import { brokenBodies, collectUncaught } from '@skerry/testing'
import {
  exchangeHttp1,
  exchangeHttp2,
  upgradeHttp1,
  type ServiceRequest,
} from './service-exchange.ts'

const never = new AbortController().signal
const request = { method: 'POST', target: '/', host: 'web', headers: {} }

/** Sends what a service may send before any request, and then ends its connection. */
async function breakOff(stream: Duplex, service: Duplex): Promise<void> {
  service.write('no frame of HTTP/2\n'.repeat(8))
  await nextTurn()
  stream.destroy(new Error('the tunnel is gone'))
  if (!stream.closed) await once(stream, 'close')
  await nextTurn()
}

test('a request that HTTP/2 cannot express fails alone, whatever the service does', async () => {
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

test('a request that HTTP/1.1 cannot express fails alone, whatever the service does', async () => {
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

type Way = (stream: Duplex, request: ServiceRequest, signal: AbortSignal) => Promise<unknown>

const ways: Readonly<Record<string, Way>> = {
  'HTTP/1.1': exchangeHttp1,

  upgrade: (stream, asked, signal) =>
    upgradeHttp1(stream, { ...asked, protocol: 'websocket' }, signal),
  'HTTP/2': (stream, asked, signal) => exchangeHttp2(stream, { ...asked, isTls: false }, signal),
}

/** True when it is refused soon, false when it is answered or still waited for. */
async function isRefused(asked: Promise<unknown>): Promise<boolean> {
  const settled = asked.then(
    () => false,
    () => true,
  )
  return Promise.race([settled, turns(50).then(() => false)])
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await nextTurn()
}

test('a body that breaks off ends its request at once, and its connection', async () => {
  using uncaught = collectUncaught()
  for (const [protocol, way] of Object.entries(ways)) {
    for (const [what, makeBody] of Object.entries(brokenBodies)) {
      const [stream, service] = duplexPair()
      const asked = way(stream, { ...request, body: makeBody() }, never)
      assert.equal(await isRefused(asked), true, `${protocol}: a body ${what}`)
      await turns(5)
      assert.deepEqual([stream.destroyed, uncaught.errors], [true, []], `${protocol}: ${what}`)
      service.destroy()
    }
  }
})

test('a request that is given up as it begins ends at once, and its connection', async () => {
  using uncaught = collectUncaught()
  for (const [protocol, way] of Object.entries(ways)) {
    for (let turn = 0; turn < 4; turn += 1) {
      const [stream, service] = duplexPair()
      const stop = new AbortController()
      if (turn === 0) stop.abort(new Error('given up'))
      else void turns(turn - 1).then(() => stop.abort(new Error('given up')))
      const asked = way(stream, request, stop.signal)
      assert.equal(await isRefused(asked), true, `${protocol}, turn ${turn}`)
      await turns(5)
      assert.deepEqual([stream.destroyed, uncaught.errors], [true, []], `${protocol}, ${turn}`)
      service.destroy()
    }
  }
})
