import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import { openInspectedWay, type Inspection } from './inspected-way.ts'

export interface TestProxyOptions {
  /** The required login, `user:password`. */
  login?: string
  /** A refusal of every request, with a web page as such proxies send it. */
  refusal?: { status: number; phrase: string; headers?: readonly string[] }
  /** Accepts connections and stays silent. */
  isSilent?: boolean
  /** PEM, if clients speak TLS to it. */
  tls?: { cert: string; key: string }
  /** Opens the TLS that passes. */
  inspection?: Inspection
}

/** An HTTP proxy that knows CONNECT, as corporate networks have one. */
export interface TestProxy extends AsyncDisposable {
  readonly url: string
  readonly port: number
  /** The requested `host:port` pairs, in order. */
  readonly asked: readonly string[]
  /** Cuts all connections, as a proxy does after some idle time. */
  cut(): void
}

export async function startTestProxy(options: TestProxyOptions = {}): Promise<TestProxy> {
  const { tls } = options
  const server = tls ? createTlsServer(tls) : createServer()
  const sockets = new Set<Duplex>()
  const keep = (socket: Duplex): void => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.once('close', () => sockets.delete(socket))
  }
  const asked: string[] = []
  server.on('connection', keep)
  server.on('connect', (request: IncomingMessage, socket: Duplex) => {
    keep(socket)
    asked.push(request.url ?? '')
    if (options.isSilent === true) return
    const refusal = refusalOf(request, options)
    if (refusal !== undefined) {
      socket.end(refusal)
      return
    }
    void pass(request.url ?? '', { socket, keep, inspection: options.inspection })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const port = portOf(server)
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    port,
    asked,
    cut() {
      for (const socket of sockets) socket.destroy()
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

function refusalOf(
  request: IncomingMessage,
  { login, refusal }: TestProxyOptions,
): string | undefined {
  if (refusal) {
    const { status, phrase, headers = [] } = refusal
    const page = '<html>refused</html>'
    const lines = [`HTTP/1.1 ${status} ${phrase}`, ...headers, `content-length: ${page.length}`]
    return `${lines.join('\r\n')}\r\n\r\n${page}`
  }
  if (login === undefined) return undefined
  const wanted = `Basic ${Buffer.from(login).toString('base64')}`
  return request.headers['proxy-authorization'] === wanted
    ? undefined
    : 'HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic realm="test"\r\n\r\n'
}

interface Passing {
  socket: Duplex
  keep: (socket: Duplex) => void
  inspection: Inspection | undefined
}

async function pass(target: string, { socket, keep, inspection }: Passing): Promise<void> {
  const at = target.lastIndexOf(':')
  const host = target.slice(0, at).replace(/^\[(.*)\]$/, '$1')
  const far = connect({ host, port: Number(target.slice(at + 1)), noDelay: true })
  keep(far)
  far.once('close', () => socket.destroy())
  socket.once('close', () => far.destroy())
  far.once('connect', () => {
    socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
    if (inspection) return void openInspectedWay({ near: socket, far, host, keep }, inspection)
    socket.pipe(far)
    far.pipe(socket)
  })
}

function portOf(server: Pick<Server, 'address'>): number {
  const address = server.address()
  if (address === null || typeof address === 'string') {
    throw new Error('Cannot tell port: the proxy does not listen')
  }
  return address.port
}
