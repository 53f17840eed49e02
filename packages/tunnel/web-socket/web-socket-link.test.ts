import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { simulatedClock } from '@skerry/base'
import { ownFeaturesText } from '../frame/tunnel-features.ts'
import { linkContract, type LinkSubject } from '../testing/link-contract.ts'
import { memoryLinks } from '../testing/memory-link.ts'
import { webSocketLink } from './web-socket-link.ts'

linkContract('in memory', async () => {
  const { near, far } = memoryLinks()
  return { near, far, [Symbol.asyncDispose]: () => Promise.resolve() }
})

/** Two sockets of one connection on loopback; a WebSocket handshake has passed on both, as it were. */
async function connected(): Promise<{ client: Socket; server: Socket } & AsyncDisposable> {
  const listening = createServer()
  listening.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  // It listens on an address, not on a path.
  const { port } = listening.address() as AddressInfo
  const accepted = once(listening, 'connection')
  const client = connect(port, '127.0.0.1')
  await once(client, 'connect')
  const [server] = (await accepted) as [Socket] // the event of net.Server carries one socket
  return {
    client,
    server,
    async [Symbol.asyncDispose]() {
      client.destroy()
      server.destroy()
      listening.close()
      await once(listening, 'close')
    },
  }
}

async function openedBy(end: 'client' | 'server'): Promise<LinkSubject> {
  const sockets = await connected()
  const handshake = {
    clock: simulatedClock(),
    messageBytesMax: 1_000_000,
    featuresText: ownFeaturesText,
  }
  const client = webSocketLink(sockets.client, { ...handshake, masks: 'random' })
  const server = webSocketLink(sockets.server, { ...handshake, masks: 'none' })
  const [near, far] = end === 'client' ? [client, server] : [server, client]
  return { near, far, [Symbol.asyncDispose]: () => sockets[Symbol.asyncDispose]() }
}

linkContract('the WebSocket of the client', () => openedBy('client'))
linkContract('the WebSocket of the server', () => openedBy('server'))
