import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { answersOf, frameOf } from '../testing/etcd-client.ts'
import { openTestServer } from '../testing/open-test-server.ts'

const question = frameOf('RangeRequest', { key: Buffer.from('a') })
const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
const settings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])
const acknowledgement = Buffer.from([0, 0, 0, 4, 1, 0, 0, 0, 0])

async function ask(session: ClientHttp2Session, authority: string): Promise<number> {
  const stream = session.request({
    ':method': 'POST',
    ':path': '/etcdserverpb.KV/Range',
    ':authority': authority,
    'content-type': 'application/grpc',
    te: 'trailers',
  })
  stream.on('error', () => {})
  stream.end(question)
  return (await answersOf(stream)).length
}

const authorities = [
  'http://127.0.0.1:2379',
  'https://[fd00::1]:2379/',
  'http://etcd-0.example.com:2379,http://etcd-1.example.com:2379',
  '127.0.0.1:2379',
]

for (const authority of authorities) {
  test(`a client that sends "${authority}" as its authority is served`, async () => {
    await using server = await openTestServer()
    const session = connectHttp2(server.endpoint)
    session.on('error', () => {})
    // The second request refers to the first one's field.
    assert.equal(await ask(session, authority), 1)
    assert.equal(await ask(session, authority), 1)
    assert.equal(await ask(session, `${authority.replace(/\d*\/?$/, '')}80`), 1)
    assert.equal(await ask(session, authority), 1)
    session.destroy()
  })
}

test('a client that waits for the settings before its first request gets them', async () => {
  await using server = await openTestServer()
  const socket = connect(server.port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(preface)
  socket.write(settings)
  const head = await bytesOf(socket, 9)
  assert.deepEqual([head[3], head[4]], [4, 0])
  socket.write(acknowledgement)
  // A ping is answered although there is no request yet.
  const ping = Buffer.concat([Buffer.from([0, 0, 8, 6, 0, 0, 0, 0, 0]), Buffer.from('pingpong')])
  socket.write(ping)
  let seen = Buffer.alloc(0)
  while (!seen.includes('pingpong')) seen = Buffer.concat([seen, await bytesOf(socket, 1)])
  socket.destroy()
})

async function bytesOf(socket: Socket, least: number): Promise<Buffer> {
  let bytes = Buffer.alloc(0)
  while (bytes.length < least) {
    const [chunk] = (await once(socket, 'data')) as [Buffer]
    bytes = Buffer.concat([bytes, chunk])
  }
  return bytes
}
