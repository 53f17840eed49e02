import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net'
import { test } from 'node:test'
import { systemClock } from '@skerry/base'
import { isStatusError } from '@skerry/api'
import { joinSession } from './stream-session.ts'

interface Scene extends AsyncDisposable {
  /** The node agent's end of the connection to the runtime; it follows the client's upgrade. */
  readonly backend: Promise<Socket>
  readonly client: Socket
  /** Resolves with the result of joining. */
  readonly joined: Promise<unknown>
}

const streams = { stdin: true, stdout: true, stderr: true, tty: false }
const goodKey = 'dGhlIHNhbXBsZSBub25jZQ=='

/** Opens a session: a client has sent its upgrade to a node agent, whose runtime behaves as the test decides. */
async function open(
  { key = goodKey, protocol }: { key?: string; protocol: string },
  onBackend: (socket: Socket) => void,
): Promise<Scene> {
  const backend = Promise.withResolvers<Socket>()
  const runtime = createTcpServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => {
      onBackend(socket)
      backend.resolve(socket)
    })
  })
  const joined = Promise.withResolvers<unknown>()
  const node = createServer()
  node.on('upgrade', (request, socket, head) => {
    socket.on('error', () => undefined)
    const url = `http://127.0.0.1:${portOf(runtime)}/exec/token`
    joinSession({ request, socket, head }, { url, streams }, { clock: systemClock }).then(
      joined.resolve,
      (error) => {
        socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')
        joined.resolve(error)
      },
    )
  })
  await Promise.all([runtime, node].map((one) => once(one.listen(0, '127.0.0.1'), 'listening')))
  const client = connect(portOf(node), '127.0.0.1')
  client.on('error', () => undefined)
  const lines = [
    'GET /exec HTTP/1.1',
    'host: node',
    'connection: Upgrade',
    'upgrade: websocket',
    'sec-websocket-version: 13',
    `sec-websocket-key: ${key}`,
    `sec-websocket-protocol: ${protocol}`,
  ]
  client.write(`${lines.join('\r\n')}\r\n\r\n`)
  return {
    backend: backend.promise,
    client,
    joined: joined.promise,
    async [Symbol.asyncDispose]() {
      client.destroy()
      node.close()
      node.closeAllConnections()
      runtime.close()
    },
  }
}

function portOf(server: { address(): AddressInfo | string | null }): number {
  const address = server.address()
  return typeof address === 'object' ? (address?.port ?? 0) : 0
}

function accept(socket: Socket): void {
  socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
}

const protocols = ['v5.channel.k8s.io', 'SPDY/3.1+portforward.k8s.io']

test('an invalid handshake ends its session with the runtime, and is answered', async () => {
  for (const protocol of protocols) {
    await using scene = await open({ key: 'short', protocol }, accept)
    const backend = await scene.backend
    const gone = once(backend.resume(), 'end')
    const [answer] = await once(scene.client, 'data')
    assert.match(String(answer), /^HTTP\/1\.1 400 /)
    assert.ok(isStatusError(await scene.joined, 'BadRequest'), protocol)
    await gone
    backend.destroy()
  }
})

test('a session ends when the client leaves before the runtime has answered, or the runtime does not', async () => {
  for (const protocol of protocols) {
    {
      await using scene = await open({ protocol }, () => undefined)
      const backend = await scene.backend
      const gone = once(backend.resume(), 'end')
      scene.client.resetAndDestroy()
      assert.match(String(await scene.joined), /the client has left/, protocol)
      await gone
      backend.destroy()
    }
    for (const leave of [(socket: Socket) => socket.end(), (socket: Socket) => socket.destroy()]) {
      await using scene = await open({ protocol }, leave)
      assert.match(String(await scene.joined), /the runtime did not answer|ECONNRESET/, protocol)
      ;(await scene.backend).destroy()
    }
  }
})
