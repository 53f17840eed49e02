import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { test } from 'node:test'
import { openTestServer, type TestServer } from '../testing/open-test-server.ts'

async function post(server: TestServer, path: string, body: string): Promise<[number, string]> {
  const response = await fetch(`${server.endpoint}${path}`, { method: 'POST', body })
  return [response.status, await response.text()]
}

async function assertServes(server: TestServer): Promise<void> {
  const [status] = await post(server, '/v3/kv/range', '{"key":"YQ=="}')
  assert.equal(status, 200)
}

const hostile: readonly (readonly [what: string, path: string, body: string, status: number])[] = [
  ['a body that is too large', '/v3/kv/put', `{"key":"YQ==","value":"${'A'.repeat(5e6)}"}`, 429],
  [
    'a request above the limit of one',
    '/v3/kv/put',
    `{"key":"YQ==","value":"${'A'.repeat(2.2e6)}"}`,
    400,
  ],
  ['lists within lists', '/v3/kv/range', `{"x":${'['.repeat(1e6)}${']'.repeat(1e6)}}`, 400],
  ['a number within lists', '/v3/kv/range', `{"x":${'['.repeat(5e5)}1234567890123456789}`, 400],
  [
    'a deep transaction',
    '/v3/kv/txn',
    `${'{"success":[{"request_txn":'.repeat(200)}{}${'}]}'.repeat(200)}`,
    400,
  ],
  ['a field twice', '/v3/kv/range', '{"range_end":"YQ==","rangeEnd":"YQ=="}', 400],
  ['a name of JavaScript', '/v3/kv/range', '{"__proto__":{"key":"YQ=="},"constructor":1}', 400],
  ['half a text', '/v3/kv/range', '{"key":"YQ', 400],
  ['a word', '/v3/kv/range', 'nonsense', 400],
  ['a stream that is no JSON', '/v3/watch', 'nonsense', 400],
  ['a stream with half a request', '/v3/lease/keepalive', '{"ID":', 400],
]

for (const [what, path, body, status] of hostile) {
  test(`over HTTP ${what} is refused, and others are served`, async () => {
    await using server = await openTestServer()
    const [answered, text] = await post(server, path, body)
    assert.equal(answered, status, text)
    assert.match(text, /"message":/)
    await assertServes(server)
  })
}

test('a body in single bytes is read, and one that never ends is cut once it is answered', async () => {
  await using server = await openTestServer()
  const asking = httpRequest(`${server.endpoint}/v3/kv/range`, { method: 'POST' })
  asking.on('error', () => {})
  for (const byte of '  {"key":"YQ=="}') asking.write(byte)
  const [response] = (await once(asking, 'response')) as [IncomingMessage]
  assert.equal(response.statusCode, 200)
  response.resume()
  const { socket } = asking
  // Node's own server may end it first; in either case nothing stays.
  await Promise.race([once(asking, 'close'), socket && once(socket, 'close')])
  await assertServes(server)
})

test('a watch over HTTP takes further requests while it is open', async () => {
  await using server = await openTestServer()
  const watching = httpRequest(`${server.endpoint}/v3/watch`, { method: 'POST' })
  watching.on('error', () => {})
  watching.write('{"create_request":{"key":"YQ=="}}\n')
  const [response] = (await once(watching, 'response')) as [IncomingMessage]
  const lines = linesOf(response)
  assert.match(await lines.next(), /"created":true/)
  await post(server, '/v3/kv/put', '{"key":"YQ==","value":"MQ=="}')
  assert.match(await lines.next(), /"mod_revision":"2"/)
  watching.write('{"progress_request":{}}{"cancel_request":{"watch_id":0}}')
  assert.match(await lines.next(), /"watch_id":"-1"/)
  assert.match(await lines.next(), /"canceled":true/)
  watching.destroy()
  await assertServes(server)
})

function linesOf(response: IncomingMessage): { next: () => Promise<string> } {
  let rest = ''
  const chunks = response[Symbol.asyncIterator]()
  return {
    async next() {
      while (!rest.includes('\n')) {
        const { value, done } = await chunks.next()
        if (done) throw new Error('the answer has ended')
        rest += String(value)
      }
      const [line = ''] = rest.split('\n', 1)
      rest = rest.slice(line.length + 1)
      return line
    },
  }
}

test('JSON is answered over HTTP/2, too', async () => {
  await using server = await openTestServer()
  const session = connectHttp2(server.endpoint)
  const stream = session.request({ ':method': 'POST', ':path': '/v3/kv/range' })
  stream.end('{"key":"YQ=="}')
  let text = ''
  for await (const chunk of stream) text += String(chunk)
  assert.match(text, /"revision":"1"/)
  session.destroy()
})

test('a page in a browser can neither read nor write', async () => {
  await using server = await openTestServer()
  const headers = { origin: 'https://example.com', 'content-type': 'text/plain' }
  const body = '{"key":"YQ==","value":"MQ=="}'
  const response = await fetch(`${server.endpoint}/v3/kv/put`, { method: 'POST', headers, body })
  assert.equal(response.status, 403)
  const { count } = await server.client.call('Range', { key: Buffer.from('a') })
  assert.equal(count, 0)
})

test('clients over HTTP that go in the middle of everything leave nothing behind', async () => {
  await using server = await openTestServer()
  const head = 'POST /v3/watch HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n'
  for (let at = 0; at < 20; at += 1) {
    const socket = connect(server.port, '127.0.0.1')
    socket.on('error', () => {})
    socket.write(head)
    if (at % 2 === 0) socket.write('20\r\n{"create_request":{"key":"YQ=="}}\r\n')
    if (at % 3 === 0) socket.write('5\r\n{"cre')
    await assertServes(server)
    socket.destroy()
  }
  await assertServes(server)
})

test('metrics have the number of calls, puts and commits', async () => {
  await using server = await openTestServer()
  await post(server, '/v3/kv/put', '{"key":"YQ==","value":"MQ=="}')
  await server.client.call('Put', { key: Buffer.from('b') })
  await server.client.call('LeaseRevoke', { id: 9n }).catch(() => {})
  const text = await (await fetch(`${server.endpoint}/metrics`)).text()
  for (const line of [
    'etcd_mvcc_put_total 2',
    'etcd_debugging_mvcc_current_revision 3',
    'etcd_disk_wal_fsync_duration_seconds_count 2',
    'grpc_method="Put",grpc_code="OK"} 2',
    'grpc_method="LeaseRevoke",grpc_code="NotFound"} 1',
  ]) {
    assert.ok(text.includes(line), line)
  }
})
