import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { systemClock, type Clock } from '@skerry/base'
import type { Http2Stream, StreamHandler } from '../connection/http2-stream.ts'
import { Http2Server } from '../http2-server.ts'
import { headerBlock } from '../hpack/header-block.ts'
import type { Http2Limits } from '../limits-table.ts'

export interface EchoServer extends AsyncDisposable {
  readonly port: number
  readonly server: Http2Server
  /** Streams that are open, oldest first. */
  readonly open: ReadonlySet<Http2Stream>
}

const head = headerBlock({ ':status': 200, 'content-type': 'text/plain' })

/**
 * Answers what it is sent, with the request's path as a trailer. `/large/N` is answered with N bytes, `/hold` with
 * nothing, and `/commit` when a store would have committed.
 */
export async function openEchoServer(
  limits: Partial<Http2Limits> = {},
  clock: Clock = systemClock,
): Promise<EchoServer> {
  const open = new Set<Http2Stream>()
  const server = new Http2Server(limits, {
    clock,
    onStream: (stream, fields) => {
      open.add(stream)
      return echo(stream, fields[':path'] ?? '', () => open.delete(stream))
    },
  })
  const tcp = createServer((socket) => {
    socket.on('error', () => {})
    server.take(socket)
  })
  tcp.listen(0, '127.0.0.1')
  await once(tcp, 'listening')
  // A server of TCP has such an address.
  const { port } = tcp.address() as AddressInfo
  return {
    port,
    server,
    open,
    async [Symbol.asyncDispose]() {
      tcp.close()
      await server.close(0)
    },
  }
}

function echo(stream: Http2Stream, path: string, onClose: () => void): StreamHandler {
  const [, word, size] = path.split('/')
  const answer = (): void => {
    stream.respond(head)
    if (word === 'large') stream.write(Buffer.alloc(Number(size), 'x'))
    stream.end(headerBlock({ path }))
  }
  return {
    onData(bytes) {
      if (word === 'hold') return
      stream.respond(head)
      stream.write(Buffer.from(bytes))
    },
    onEnd() {
      if (word === 'hold') return
      if (word === 'commit') return void setImmediate(answer)
      answer()
    },
    onTaken() {},
    onClose,
  }
}
