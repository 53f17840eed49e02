import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { seededRandom } from '@skerry/base'
import { answersOf, EtcdClient, frameOf } from './testing/etcd-client.ts'
import { openTestServer, type TestServer } from './testing/open-test-server.ts'

const key = Buffer.from('key')
const range = 'etcdserverpb.KV/Range'
const question = frameOf('RangeRequest', { key })

function framed(body: Uint8Array, { flag = 0, length = body.length } = {}): Buffer {
  const frame = Buffer.alloc(5 + body.length)
  frame[0] = flag
  frame.writeUInt32BE(length, 1)
  frame.set(body, 5)
  return frame
}

async function sent(
  client: EtcdClient,
  path: string,
  bytes: Uint8Array,
  headers: Record<string, string> = {},
): Promise<string> {
  const stream = client.open(path, headers)
  stream.end(bytes)
  return answersOf(stream).then(
    (answers) => `${answers.length} answers`,
    (error: unknown) => String(error),
  )
}

/** The server answers others, whatever came before. */
async function assertServes({ client }: TestServer): Promise<void> {
  assert.equal((await client.call('Range', { key })).count, 0)
}

const nested = (depth: number): Uint8Array => {
  let body: Uint8Array = Buffer.alloc(0)
  for (let at = 0; at < depth; at += 1) {
    // RequestOp.request_txn within TxnRequest.success.
    body = lengthed(0x12, lengthed(0x22, body))
  }
  return body
}

function lengthed(tag: number, body: Uint8Array): Uint8Array {
  const size: number[] = []
  for (let rest = body.length; ; rest = Math.floor(rest / 128)) {
    size.push(rest >= 128 ? (rest % 128) | 0x80 : rest)
    if (rest < 128) break
  }
  return Buffer.concat([Uint8Array.of(tag, ...size), body])
}

const refusals: readonly (readonly [
  what: string,
  path: string,
  bytes: Uint8Array,
  expected: RegExp,
  headers?: Record<string, string>,
])[] = [
  [
    'an unknown service',
    'etcdserverpb.Nothing/Range',
    question,
    /12: unknown service etcdserverpb/,
  ],
  ['an unknown method', 'etcdserverpb.KV/Nothing', question, /12: unknown method Nothing for/],
  ['a length above the bound', range, framed(key, { length: 0x7fff_ffff }), /8: grpc: received/],
  ['a length above what comes', range, framed(key, { length: 1_000 }), /13: the request ended/],
  ['a compressed flag', range, framed(key, { flag: 1 }), /13: grpc: compressed flag/],
  ['an encoding', range, question, /12: grpc: Decompressor is not/, { 'grpc-encoding': 'gzip' }],
  ['no message', range, Buffer.alloc(0), /13: the request ended/],
  ['two messages', range, Buffer.concat([question, question]), /13: one request is expected/],
  ['a malformed deadline', range, question, /13: malformed grpc-timeout/, { 'grpc-timeout': 'x' }],
  ['a field of another type', range, framed(Uint8Array.of(0x08, 1)), /13: grpc: error unmarshal/],
  ['a field that lies', range, framed(Uint8Array.of(0x0a, 0x7f)), /13: grpc: error unmarshal/],
  ['an endless number', range, framed(new Uint8Array(40).fill(0xff)), /13: grpc: error unmarsh/],
  ['a deep txn', 'etcdserverpb.KV/Txn', framed(nested(200)), /nested too deeply/],
  [
    'a txn of empty parts',
    'etcdserverpb.KV/Txn',
    framed(Buffer.alloc(600_000).map((_, at) => (at % 2 === 0 ? 0x0a : 0))),
    /too many fields/,
  ],
  ['another content type', range, question, /-1/, { 'content-type': 'text/plain' }],
]

for (const [what, path, bytes, expected, headers] of refusals) {
  test(`${what} is refused, and others are served`, async () => {
    await using server = await openTestServer()
    assert.match(await sent(server.client, path, bytes, headers), expected)
    await assertServes(server)
  })
}

test('random bytes as messages end no server (seed 7)', async () => {
  await using server = await openTestServer()
  const random = seededRandom(7)
  const paths = ['KV/Range', 'KV/Txn', 'KV/Put', 'Watch/Watch', 'Lease/LeaseGrant', 'Auth/UserAdd']
  for (let at = 0; at < 300; at += 1) {
    const body = Uint8Array.from({ length: random.next() * 60 }, () => random.next() * 256)
    const path = `etcdserverpb.${paths[at % paths.length]}`
    const stream = server.client.open(path, {})
    stream.end(framed(body))
    if (path.includes('Watch')) stream.close(8)
    else await answersOf(stream).catch(() => {})
  }
  await server.client.call('Range', { key })
})

test('bytes that are not HTTP end their connection alone', async () => {
  await using server = await openTestServer()
  for (const bytes of [
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nnonsense',
    'P',
    '\x16\x03\x01',
    'GET\r\n\r\n',
  ]) {
    const socket = connect(server.port, '127.0.0.1')
    socket.on('error', () => {})
    socket.end(bytes)
    socket.resume()
    await once(socket, 'close')
  }
  await assertServes(server)
})

test('a client that goes in the middle of everything leaves nothing behind', async () => {
  await using server = await openTestServer()
  for (let at = 0; at < 20; at += 1) {
    const client = new EtcdClient(server.endpoint)
    const watch = client.stream('Watch')
    watch.send({ createRequest: { key, progressNotify: true } })
    void client.call('Put', { key, value: Buffer.alloc(100_000) }).catch(() => {})
    client.open(range, {}).write(framed(key, { length: 1_000 }))
    if (at % 2 === 0) await server.client.call('Range', { key })
    client[Symbol.dispose]()
  }
  await server.client.call('DeleteRange', { key })
  await server.client.call('Range', { key })
})
