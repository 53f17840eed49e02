import assert from 'node:assert/strict'
import { createSocket, type RemoteInfo } from 'node:dgram'
import { once } from 'node:events'
import { test } from 'node:test'
import { silentLogger } from '@skerry/base'
import { openDatagrams } from './open-datagrams.ts'

const from = (address: string, port: number): RemoteInfo => ({
  address,
  port,
  family: 'IPv4',
  size: 5,
})

test('unreachable sources end neither the server nor the answers of others', async () => {
  const server = await openDatagrams(
    { address: '127.0.0.1', port: 0 },
    async (bytes) => bytes,
    silentLogger,
  )
  const client = createSocket('udp4')
  try {
    // The kernel delivers these only if a pod sends them through a raw socket.
    server.emit('message', Buffer.from('hello'), from('127.0.0.1', 0))
    for (let count = 0; count < 3; count += 1) {
      server.emit('message', Buffer.from('hello'), from('255.255.255.255', 53))
    }
    server.emit('error', new Error('a fault of the kernel'))
    client.send('asked', server.address().port, '127.0.0.1')
    const [answer] = await once(client, 'message', { signal: AbortSignal.timeout(20_000) })
    assert.equal(String(answer), 'asked')
  } finally {
    client.close()
    server.close()
  }
})
