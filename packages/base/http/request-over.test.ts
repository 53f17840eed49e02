import assert from 'node:assert/strict'
import { duplexPair } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { test } from 'node:test'
import { endWith, requestOver } from './request-over.ts'

const never = new AbortController().signal
const request = { method: 'GET', path: '/', headers: { host: 'web' } }

test('a response ends the connection that was opened for it', async () => {
  const [stream, peer] = duplexPair()
  const asked = requestOver(stream, request, never)
  peer.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
  const { type, response } = await asked
  assert.deepEqual([type, response.statusCode, await text(response)], ['response', 200, 'ok'])
  await nextTurn()
  assert.equal(stream.destroyed, true)
})

test('bytes behind a switch of protocols are not lost, and the connection stays', async () => {
  const [stream, peer] = duplexPair()
  const headers = { host: 'web', connection: 'Upgrade', upgrade: 'x' }
  const asked = requestOver(stream, { ...request, headers }, never)
  peer.write('HTTP/1.1 101 Switching\r\nconnection: Upgrade\r\nupgrade: x\r\n\r\nfirst')
  peer.end(' last')
  assert.equal((await asked).type, 'upgrade')
  assert.equal(await text(stream), 'first last')
})

test('only a request that asks for it opens a tunnel by CONNECT', async () => {
  for (const isConnect of [true, false]) {
    const [stream, peer] = duplexPair()
    const asked = requestOver(stream, { ...request, method: 'CONNECT', isConnect }, never)
    const type = asked.then(
      (answer) => answer.type,
      (error: unknown) => error,
    )
    peer.write('HTTP/1.1 200 OK\r\n\r\n')
    if (isConnect) assert.equal(await type, 'upgrade')
    else assert.ok((await type) instanceof Error)
    assert.equal(stream.destroyed, !isConnect)
  }
})

test('a peer that closes before its answer is reported as one that was reset', async () => {
  const [stream] = duplexPair()
  const asked = requestOver(stream, request, never)
  stream.destroy()
  await assert.rejects(asked, { code: 'ECONNRESET' })
})

test('a connection that breaks together with its switch of protocols ends the request, not the process', async () => {
  const [stream, peer] = duplexPair()
  const headers = { host: 'web', connection: 'Upgrade', upgrade: 'x' }
  const asked = requestOver(stream, { ...request, headers }, never)
  stream.once('data', () => stream.destroy(new Error('cut')))
  peer.write('HTTP/1.1 101 Switching\r\nconnection: Upgrade\r\nupgrade: x\r\n\r\n')
  await assert.rejects(asked, { message: 'cut' })
})

test('an error of a switched connection for which nobody listens does not end the process', async () => {
  const [stream, peer] = duplexPair()
  const headers = { host: 'web', connection: 'Upgrade', upgrade: 'x' }
  const asked = requestOver(stream, { ...request, headers }, never)
  peer.write('HTTP/1.1 101 Switching\r\nconnection: Upgrade\r\nupgrade: x\r\n\r\n')
  await asked
  stream.destroy(new Error('cut'))
  await nextTurn()
  assert.equal(stream.destroyed, true)
})

test('a connection that had closed before is reported, and not waited for', async () => {
  const [stream] = duplexPair()
  stream.destroy()
  await nextTurn()
  await assert.rejects(requestOver(stream, request, never), { code: 'ECONNRESET' })
})

test('the signal ends the connection until the answer, and endWith() also later', async () => {
  for (const isLater of [false, true]) {
    const [stream, peer] = duplexPair()
    const stop = new AbortController()
    const asked = requestOver(stream, request, stop.signal)
    peer.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n')
    const { response } = await asked
    response.on('error', () => undefined)
    if (isLater) endWith(stream, stop.signal)
    stop.abort(new Error('enough'))
    assert.equal(stream.destroyed, isLater)
    stream.destroy()
  }
})
