import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { createServer as createHttp1Server } from 'node:http'
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net'
import { createServer as createTlsServer, type TLSSocket } from 'node:tls'
import type { Clock, Logger } from '@skerry/base'
import { Http2Server, type OnStream } from '@skerry/http2-server'
import { etcdServerBounds } from '../limits-table.ts'

const bounds = etcdServerBounds.grpcServer

export interface TlsFiles {
  /** PEM. */
  readonly cert: string
  readonly key: string
  /** Clients must present a certificate of these authorities. If omitted, they need none. */
  readonly clientCa?: string | undefined
  /** Common names of clients. If omitted, each certificate of the authorities is good. */
  readonly clientNames?: readonly string[] | undefined
}

/** A port on an address of this machine, or the path of a unix socket. */
export type ListenAddress =
  | { readonly host: string; readonly port: number }
  | { readonly path: string }

export interface ServerHandlers {
  readonly onStream: OnStream
  /** Answers HTTP/1.1. */
  readonly onRequest: RequestListener
  readonly streamsMax: number
}

export interface ListeningServer extends AsyncDisposable {
  /** 0 for a unix socket. */
  readonly port: number
  /** Applies to new connections. */
  setTls(tls: TlsFiles): void
}

/** Listens on one address for HTTP/2 and HTTP/1.1; the first bytes of a connection say which it is. */
export async function listen(
  address: ListenAddress,
  tls: TlsFiles | undefined,
  handlers: ServerHandlers,
  deps: { clock: Clock; log: Logger },
): Promise<ListeningServer> {
  const router = protocolRouter(handlers, deps)
  const secure = tls && createTlsServer(tlsOptions(tls), (socket) => router.take(socket))
  const server = secure ?? createTcpServer((socket) => router.take(socket))
  let names = tls?.clientNames
  secure?.prependListener('secureConnection', (socket) => {
    if (!isNamed(socket, names)) {
      deps.log.info('Client refused by the name of its certificate', { address: remoteOf(socket) })
      socket.destroy()
    }
  })
  secure?.on('tlsClientError', (error) => deps.log.debug('TLS handshake failed', { error }))
  server.maxConnections = bounds.connectionsMax
  server.listen(address)
  await once(server, 'listening')
  const bound = server.address()
  return {
    port: isTcp(bound) ? bound.port : 0,
    setTls(renewed) {
      names = renewed.clientNames
      secure?.setSecureContext(tlsOptions(renewed))
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      await router.close()
      await closed
    },
  }
}

function protocolRouter(handlers: ServerHandlers, { clock, log }: { clock: Clock; log: Logger }) {
  const sockets = new Set<Socket>()
  const quiet = (error: Error): void => log.debug('Connection failed', { error })
  const http1 = createHttp1Server(http1Options, handlers.onRequest)
  const { streamsMax, onStream } = handlers
  const http2 = new Http2Server(
    {
      streamsMax,
      headerBytesMax: bounds.headerBytesMax,
      headerFieldsMax: bounds.headerPairsMax,
      windowBytes: bounds.windowBytes,
      unreadMs: bounds.unreadMs,
    },
    { clock, onStream },
  )
  return {
    take(socket: Socket): void {
      if (socket.destroyed) return
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
      socket.on('error', quiet)
      socket.setNoDelay(true)
      socket.setKeepAlive(true, bounds.keepAliveMs)
      const late = clock.setTimer(bounds.prefaceMs, () => socket.destroy())
      socket.once('close', () => late[Symbol.dispose]())
      readFirst(socket, (isHttp2) => {
        late[Symbol.dispose]()
        if (isHttp2) http2.take(socket)
        else http1.emit('connection', socket)
        socket.resume()
      })
    },
    /** Lets calls end for a moment, and then ends them. */
    async close(): Promise<void> {
      http1.closeIdleConnections()
      await http2.close(bounds.drainMs)
      for (const socket of sockets) socket.destroy()
    },
  }
}

const preface = Buffer.from('PRI')

/** Looks at the first bytes and puts them back. */
function readFirst(socket: Socket, onKnown: (isHttp2: boolean) => void): void {
  let first: Buffer = Buffer.alloc(0)
  const onData = (chunk: Buffer): void => {
    first = first.length === 0 ? chunk : Buffer.concat([first, chunk])
    const seen = first.subarray(0, preface.length)
    const isLike = seen.equals(preface.subarray(0, seen.length))
    if (isLike && seen.length < preface.length) return
    socket.off('data', onData)
    socket.pause()
    socket.unshift(first)
    onKnown(isLike)
  }
  socket.on('data', onData)
}

/** A watch may leave its request open, so Node limits the time of the head alone. */
const http1Options = Object.freeze({
  requestTimeout: 0,
  headersTimeout: bounds.arriveMs,
  maxHeaderSize: bounds.headerBytesMax,
})

function tlsOptions({ cert, key, clientCa }: TlsFiles) {
  const options = {
    cert,
    key,
    minVersion: 'TLSv1.2' as const,
    ALPNProtocols: ['h2', 'http/1.1'],
    handshakeTimeout: bounds.prefaceMs,
  }
  return clientCa === undefined
    ? options
    : { ...options, ca: clientCa, requestCert: true, rejectUnauthorized: true }
}

function isNamed(socket: TLSSocket, names: readonly string[] | undefined): boolean {
  if (names === undefined) return true
  const name: unknown = socket.getPeerCertificate().subject?.CN
  return typeof name === 'string' && names.includes(name)
}

function remoteOf(socket: Socket): string {
  return socket.remoteAddress ?? 'a unix socket'
}

function isTcp(address: string | AddressInfo | null): address is AddressInfo {
  return typeof address === 'object' && address !== null
}
