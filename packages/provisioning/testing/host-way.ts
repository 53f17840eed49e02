import { once } from 'node:events'
import { createServer } from 'node:net'
import type { TestHost } from '@skerry/testing'

/** Opens a port of this process's own network that leads to port 22 of a host. */
export async function startWay(
  host: TestHost,
): Promise<{ readonly port: number } & AsyncDisposable> {
  const server = createServer((socket) => {
    const way = host.start(['busybox', 'nc', host.address, '22'], {
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    // Either side may go at any time.
    for (const each of [socket, way.stdin, way.stdout]) each?.on('error', () => undefined)
    if (way.stdin !== null) socket.pipe(way.stdin)
    way.stdout?.pipe(socket)
    socket.on('close', () => way.kill('SIGKILL'))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    async [Symbol.asyncDispose]() {
      server.close()
    },
  }
}
