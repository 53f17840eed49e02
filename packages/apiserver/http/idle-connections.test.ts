import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { test } from 'node:test'
import { closeUnused } from './idle-connections.ts'

const request = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'

test('a request that arrived before its idle connection was to be closed is answered', async (t) => {
  const server = createServer((_request, response) => response.end('served'))
  closeUnused(server)
  let served: Socket | undefined
  server.on('connection', (socket) => void (served = socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A server that listens to TCP has one.
  const { port } = server.address() as AddressInfo
  const client = connect(port, '127.0.0.1')
  t.after(() => {
    client.destroy()
    server.close()
  })
  let text = ''
  client.on('data', (piece: Buffer) => (text += piece.toString()))
  client.write(request)
  await once(client, 'data')
  // The server was stalled: its timer fires before it reads the request.
  client.write(request)
  server.emit('timeout', served)
  await Promise.race([once(client, 'data'), once(client, 'close')])
  assert.equal(text.split('served').length, 3)
  // Nothing arrived this time.
  server.emit('timeout', served)
  await once(client, 'close')
})
