import assert from 'node:assert/strict'
import { duplexPair } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import type { SubresourceAnswer } from '../../contract/subresource.ts'
import { sendOverSocket } from './log-socket.ts'

/** Returns what a client that offers these protocols receives: the head, and the bytes after it. */
async function receive(
  protocols: string,
  chunks: readonly Uint8Array[],
): Promise<[string, Buffer]> {
  const [client, server] = duplexPair()
  const headers: Record<string, string> = {
    upgrade: 'websocket',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    ...(protocols === '' ? {} : { 'sec-websocket-protocol': protocols }),
  }
  const received = buffer(client)
  const answer: SubresourceAnswer = {
    type: 'stream',
    status: 200,
    headers: {},
    body: streamOf(chunks),
  }
  await sendOverSocket(headers, { socket: server, head: new Uint8Array() }, async () => answer)
  const all = await received
  const end = all.indexOf('\r\n\r\n') + 4
  return [all.subarray(0, end).toString(), all.subarray(end)]
}

async function* streamOf(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks
}

const closed = Buffer.from([0x88, 2, 0x03, 0xe8])

test('a stream comes in messages of the chosen protocol, and then the socket closes', async () => {
  const line = Buffer.from('hello\n')
  const [head, bytes] = await receive('other, binary.k8s.io', [line])
  // The expected answer to the key is that of RFC 6455, section 1.3.
  assert.match(head, /^HTTP\/1\.1 101 .*accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=\r\n/s)
  assert.match(head, /sec-websocket-protocol: binary\.k8s\.io\r\n/)
  assert.deepEqual(bytes, Buffer.concat([Buffer.from([0x82, 6]), line, closed]))
  const [, encoded] = await receive('base64.binary.k8s.io', [line])
  const text = Buffer.from(line.toString('base64'))
  assert.deepEqual(encoded, Buffer.concat([Buffer.from([0x81, text.length]), text, closed]))
  const [plain] = await receive('', [])
  assert.doesNotMatch(plain, /sec-websocket-protocol/)
})

test('long messages have their length in front', async () => {
  const [, medium] = await receive('', [Buffer.alloc(300)])
  assert.deepEqual([...medium.subarray(0, 4)], [0x82, 126, 1, 44])
  const [, long] = await receive('', [Buffer.alloc(70_000)])
  assert.deepEqual([...long.subarray(0, 10)], [0x82, 127, 0, 0, 0, 0, 0, 1, 0x11, 0x70])
})

test('an unknown protocol is refused with an HTTP answer', async () => {
  for (const protocol of ['nonsense', 'constructor', '__proto__']) {
    const [head, body] = await receive(protocol, [])
    assert.match(head, /^HTTP\/1\.1 400 /)
    assert.ok(body.toString().includes(`not supported: [${protocol}]`), body.toString())
  }
})
