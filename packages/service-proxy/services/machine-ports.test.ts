import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { readMachinePorts, userOf } from './machine-ports.ts'

test('a port of the machine is known while a program listens on it', async () => {
  const server = createServer().listen(0)
  const socket = createSocket('udp4').bind(0)
  await Promise.all([once(server, 'listening'), once(socket, 'listening')])
  const address = '192.0.2.1'
  const { port } = server.address() as AddressInfo
  const tcp = { protocol: 'tcp' as const, port, address }
  const udp = { protocol: 'udp' as const, port: socket.address().port, address }
  const before = await readMachinePorts()
  assert.equal(userOf(before, tcp), 'a program of the machine')
  assert.equal(userOf(before, udp), 'a program of the machine')
  assert.ok(before.addresses.has('127.0.0.1'))
  server.close()
  socket.close()
  await Promise.all([once(server, 'close'), once(socket, 'close')])
  const after = await readMachinePorts()
  assert.equal(userOf(after, tcp), undefined)
  assert.equal(userOf(after, udp), undefined)
})
