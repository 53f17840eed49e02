import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A way to a server that can fall silent while its connections stay open, as a cut link does. */
export interface SilentRelay extends AsyncDisposable {
  readonly url: string
  /** The number of bytes that the client has sent. */
  asked(): number
  /** Nothing arrives at the client any more; with `both`, nothing at the server either. */
  silence(way: 'answers' | 'both'): void
}

export async function startRelay(endpoint: string): Promise<SilentRelay> {
  const { hostname, port } = new URL(endpoint)
  const sockets = new Set<Socket>()
  let silent: 'answers' | 'both' | undefined
  let asked = 0
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => void sockets.delete(socket))
    }
    client.on('data', (bytes: Buffer) => {
      asked += bytes.length
      if (silent !== 'both') upstream.write(bytes)
    })
    upstream.on('data', (bytes: Buffer) => {
      if (silent === undefined) client.write(bytes)
    })
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A server that listens on TCP has an address of this type.
  const { port: own } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${own}`,
    asked: () => asked,
    silence: (way) => void (silent = way),
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
