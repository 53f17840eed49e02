import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import type { TestHost } from '@skerry/testing'

/** A port of this process's own network that leads to port 22 of a host. */
export interface HostWay extends AsyncDisposable {
  readonly port: number
  /** The bytes that went to the host so far. */
  sentBytes(): number
  /** Cuts every connection when so many further bytes have gone to the host; later ones are not cut. */
  cutAfter(bytes: number): void
}

export async function startWay(host: TestHost): Promise<HostWay> {
  let sent = 0
  let cutAt = Number.POSITIVE_INFINITY
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    const way = host.start(['busybox', 'nc', host.address, '22'], {
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    sockets.add(socket)
    // Either side may go at any time.
    for (const each of [socket, way.stdin, way.stdout]) each?.on('error', () => undefined)
    socket.on('data', (piece) => {
      sent += piece.length
      if (sent < cutAt) return
      cutAt = Number.POSITIVE_INFINITY
      for (const each of sockets) each.destroy()
    })
    if (way.stdin !== null) socket.pipe(way.stdin)
    way.stdout?.pipe(socket)
    socket.on('close', () => {
      sockets.delete(socket)
      way.kill('SIGKILL')
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    sentBytes: () => sent,
    cutAfter(bytes) {
      cutAt = sent + bytes
    },
    async [Symbol.asyncDispose]() {
      server.close()
    },
  }
}
