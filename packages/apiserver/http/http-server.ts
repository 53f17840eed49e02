import { AsyncLocalStorage } from 'node:async_hooks'
import { constants } from 'node:crypto'
import http2 from 'node:http2'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import type { Duplex, Readable } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import {
  ExpectedError,
  asError,
  exitCodes,
  lastCatch,
  lastCatchOf,
  type Clock,
  type Logger,
} from '@skerry/base'
import { apiServerBounds, type ApiServerLimits } from '../limits-table.ts'
import { awaitHello } from './await-hello.ts'
import { announced, answerHead, writableHeaders } from './answer-head.ts'
import type { ConnectionsPerAddress } from './connections-per-address.ts'
import { http1Headers, http2Headers, pairs } from './header-records.ts'
import { closeUnused, closeWhenIdle } from './idle-connections.ts'
import { OutputTurns } from './output-turns.ts'
import type { OutputDeps } from './paced-output.ts'
import {
  isWhole,
  type ApiAnswer,
  type ApiRequest,
  type ClientConnection,
  type Peer,
} from '../contract/exchange.ts'
import { HandshakeTurns, type Turn } from './handshake-turns.ts'
import { takeProxyHeader, type TrustedProxies } from './proxied-connections.ts'
import { refusalOfParser, type UnreadableRequest } from './unreadable-request.ts'
import type { UnreadBytes } from './unread-bytes.ts'
import { writeAnswer } from './write-answer.ts'

export interface TlsFiles {
  /** PEM. */
  readonly cert: string | Uint8Array
  readonly key: string | Uint8Array
  /** PEM of the CAs whose client certificates identify users. */
  readonly clientCa: string | Uint8Array | readonly (string | Uint8Array)[]
}

export interface HttpServerOptions {
  readonly tls: TlsFiles
  readonly limits: ApiServerLimits
  readonly clock: Pick<Clock, 'monotonicMs' | 'setTimer'>
  readonly log: Logger
  /** Counts the bytes that wait for readers of answers. */
  readonly unread: UnreadBytes
  readonly onBytes?: OutputDeps['onBytes']
  /** The proxies whose connections begin with a PROXY header. If omitted, there are none. */
  readonly proxies?: TrustedProxies | undefined
  /** Bounds the connections of an address. If omitted, only handshakes and idle time have bounds. */
  readonly connections?: ConnectionsPerAddress
  /** Never rejects: errors are answers. */
  readonly onRequest: (request: ApiRequest) => Promise<ApiAnswer>
  readonly onUpgrade: (request: ApiRequest, client: ClientConnection) => Promise<void>
  /** Called after the sender of an unreadable request was answered. */
  readonly onUnreadable: (unreadable: UnreadableRequest) => void
}

interface Serving extends HttpServerOptions {
  readonly outputTurns: OutputTurns
}

export interface HttpServer extends AsyncDisposable {
  /** Applies to new connections. */
  setTls(tls: TlsFiles): void
  listen(host: string, port: number): Promise<AddressInfo>
  /** Serves a connection from `address` that did not come through the port. It starts with TLS. */
  take(connection: Duplex, address: string): void
}

/** Everything that happens on a connection runs in this context. */
const arrivals = new AsyncLocalStorage<{
  /**
   * The client's address if the connection's own address does not show it, because it came inside
   * another one or through a proxy.
   */
  readonly takenFrom: string | undefined
  readonly onSecure: () => void
}>()

/**
 * Detects a client that vanished silently; otherwise a watch or a shell at the edge would wait for
 * it forever. After this idle time the kernel probes ten times, a second apart.
 */
const keptAlive = Object.freeze({ keepAlive: true, keepAliveInitialDelay: 15_000 })

/** Shared by all requests: every exchange ends with it, and capturing a stack costs 4 % of a GET. */
const clientGone = Object.freeze(new Error('Client closed the connection'))

/** Serves HTTP/1.1, HTTP/2 and upgrades on one TLS port. Client certificates are requested, not required. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { limits, clock, log } = options
  const turns = new HandshakeTurns(limits, { clock, log, nextPass: setImmediate })
  const sockets = new Set<Duplex>()
  const sessions = new Set<http2.ServerHttp2Session>()
  const quiet = (error: Error): void => log.debug('Connection failed', { error })
  const server = createTlsServer(options)
  // Node's own listener answers requests that its parser refuses, and ends the connection with that
  // error.
  const onFault = function (this: TLSSocket, error: Error): void {
    const refusal = refusalOfParser(error)
    if (refusal) options.onUnreadable({ ...refusal, peer: peerOf(this) })
  }
  server.on('secureConnection', (socket: TLSSocket) => {
    arrivals.getStore()?.onSecure()
    socket.on('error', onFault)
    // After an error the certificate can no longer be read, so it is read now.
    if (socket.alpnProtocol !== 'h2') peerOf(socket)
  })
  server.on('session', (session) => {
    sessions.add(session)
    closeWhenIdle(session, limits.idleConnectionMs)
    session.on('error', quiet)
    session.once('close', () => sessions.delete(session))
  })
  server.on('sessionError', quiet)
  server.on('tlsClientError', quiet)
  const outputTurns = new OutputTurns({ clock, nextPass: setImmediate })
  closeUnused(server)
  serveProtocols(server, { ...options, outputTurns }, quiet)
  /** The connection ends with the server. */
  const own = (connection: Duplex): void => {
    sockets.add(connection)
    connection.once('close', () => sockets.delete(connection))
  }
  /** Begins TLS when the connection's turn has come. */
  const onArrival = (connection: Duplex, address: string, takenFrom?: string): void => {
    connection.on('error', quiet)
    let turn: Turn | undefined
    const begin = (): void => {
      const context = { takenFrom, onSecure: () => turn?.end() }
      arrivals.run(context, () => server.emit('connection', connection))
    }
    const drop = (): void => void connection.destroy()
    connection.once('close', () => turn?.end())
    awaitHello(connection, { helloMs: limits.handshakeMs, clock }, (isPatient) => {
      turn = turns.arrive({ address, isPatient, begin, drop })
    })
  }
  // Paused, so that only the client's hello is read of a waiting connection. No delay: over
  // HTTP/1.1 an answer's head and body are two writes, of which the second would wait 40 ms for an
  // ACK.
  const port = createServer({ pauseOnConnect: true, noDelay: true, ...keptAlive }, (socket) => {
    own(socket)
    whenKnown(socket, options, quiet, (address, takenFrom) => onArrival(socket, address, takenFrom))
  })
  return {
    async listen(host, number) {
      const address = await listen(port, host, number)
      // The server does not listen itself, and enforces HTTP/1.1's timeouts only after this event.
      server.emit('listening')
      return address
    },
    take(connection, address) {
      own(connection)
      onArrival(connection, address, address)
    },
    setTls: (next) => server.setSecureContext(secureContext(next)),
    async [Symbol.asyncDispose]() {
      const isOpen = port.listening
      const closed = new Promise<void>((resolve) => port.close(() => resolve()))
      server.close()
      for (const session of sessions) session.destroy()
      for (const socket of sockets) socket.destroy()
      if (isOpen) await closed
    },
  }
}

/** Determines a connection's address: its socket's, or the one that a trusted proxy names. */
function whenKnown(
  socket: Socket,
  { proxies, connections, limits, clock, log }: HttpServerOptions,
  quiet: (error: Error) => void,
  onKnown: (address: string, takenFrom?: string) => void,
): void {
  if (connections?.take(socket) === false) return void socket.destroy()
  const { remoteAddress = '' } = socket
  if (proxies?.has(remoteAddress) !== true) return onKnown(remoteAddress)
  socket.on('error', quiet)
  takeProxyHeader(socket, { headerMs: limits.proxyHeaderMs, clock, log }, (address) => {
    socket.off('error', quiet)
    onKnown(address ?? remoteAddress, address)
  })
}

/**
 * ALPN protocols, preferred first. A client that offers neither is refused; one that offers none
 * speaks HTTP/1.1.
 */
const spoken = ['h2', 'http/1.1']

/** Connections are handed to this server; it has no port of its own. */
function createTlsServer({ tls, limits }: HttpServerOptions): http2.Http2SecureServer {
  // The HTTP/1.1 side knows these options, though the types do not.
  const http1 = {
    maxHeaderSize: limits.headerBytesMax,
    headersTimeout: limits.headerReadMs,
    requestTimeout: Math.max(limits.requestReadMs, limits.headerReadMs),
    keepAliveTimeout: limits.idleConnectionMs,
    connectionsCheckingInterval: Math.min(limits.headerReadMs, limits.requestReadMs),
  }
  return http2.createSecureServer({
    allowHTTP1: true,
    // This replaces a list, which each connection would copy into a pool of 64 KiB and keep alive.
    ALPNCallback: ({ protocols: offered }) => spoken.find((name) => offered.includes(name)),
    ...secureContext(tls),
    requestCert: true,
    rejectUnauthorized: false,
    minVersion: 'TLSv1.2',
    handshakeTimeout: limits.handshakeMs,
    maxHeaderListPairs: 200,
    ...http1,
    settings: {
      maxConcurrentStreams: limits.streamsPerConnectionMax,
      maxHeaderListSize: limits.headerBytesMax,
    },
  })
}

function serveProtocols(
  server: http2.Http2SecureServer,
  options: Serving,
  quiet: (error: Error) => void,
): void {
  const onRequest = lastCatch(
    (request, response) => onHttp1(options, request, response),
    options.log,
  )
  server.on('request', (request, response) => {
    // Compat objects: for HTTP/1 these are node:http's own.
    onRequest(request as unknown as IncomingMessage, response as unknown as ServerResponse)
  })
  // Listening to `request` also installs the compat layer for HTTP/2; bare streams are faster.
  server.removeAllListeners('stream')
  server.on('stream', (stream, headers, _flags, rawHeaders: unknown) => {
    // A server's streams are always ServerHttp2Stream.
    const own = stream as http2.ServerHttp2Stream
    onStream(options, own, { headers, rawHeaders }).catch((error: unknown) =>
      endStream(own, error, options.log),
    )
  })
  server.on(
    'upgrade',
    lastCatchOf(
      (_request: IncomingMessage, socket: Duplex, _head: Uint8Array) => socket,
      (request, socket, head) => {
        socket.on('error', quiet)
        // Sessions end in one direction first: the input of a command, before its output has come.
        socket.allowHalfOpen = true
        return onUpgrade(options, request, { socket, head })
      },
      options.log,
    ),
  )
}

/** The last catch of a stream: a bug in handling one request must never end the others. */
function endStream(stream: http2.ServerHttp2Stream, error: unknown, log: Logger): void {
  log.error('Request handling failed', { error: asError(error) })
  if (stream.destroyed) return
  if (stream.headersSent) return stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR)
  stream.respond({ ':status': 500 }, { endStream: true })
  if (!stream.readableEnded) readAway(stream)
}

function secureContext({ cert, key, clientCa }: TlsFiles) {
  const ca = Array.isArray(clientCa) ? clientCa.map(pem) : pem(onePem(clientCa))
  // A resumed session keeps the former verdict on the client's certificate, even if the clock was
  // wrong then.
  return { cert: pem(cert), key: pem(key), ca, secureOptions: constants.SSL_OP_NO_TICKET }
}

function pem(value: string | Uint8Array): string | Buffer {
  return typeof value === 'string' ? value : Buffer.from(value)
}

function onePem(value: TlsFiles['clientCa']): string | Uint8Array {
  if (typeof value === 'string' || value instanceof Uint8Array) return value
  throw new TypeError('Cannot read the client CA: expected PEM text or bytes')
}

const { backlogMax, unreadBytesMax } = apiServerBounds.httpServer

function listen(server: Server, host: string, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void => {
      const isTaken = error.code === 'EADDRINUSE'
      const reason = isTaken ? 'the port is taken; choose another port' : error.message
      const exitCode = isTaken ? exitCodes.portTaken : exitCodes.failure
      reject(
        new ExpectedError(`Cannot listen on ${host}:${port}: ${reason}`, exitCode, {
          cause: error,
        }),
      )
    }
    server.once('error', onError)
    server.listen({ port, host, backlog: backlogMax }, () => {
      server.removeListener('error', onError)
      const address = server.address()
      if (address === null || typeof address === 'string') {
        reject(new Error(`Cannot listen on ${host}:${port}: no TCP address`))
      } else resolve(address)
    })
  })
}

async function onStream(
  options: Serving,
  stream: http2.ServerHttp2Stream,
  { headers, rawHeaders }: { headers: http2.IncomingHttpHeaders; rawHeaders: unknown },
): Promise<void> {
  const controller = new AbortController()
  stream.on('error', (error) => options.log.debug('Stream failed', { error }))
  stream.once('close', () => controller.abort(clientGone))
  const peer = peerOf(stream.session?.socket)
  const streams = countStream(stream)
  const answer = await options.onRequest({
    method: headers[':method'] ?? 'GET',
    target: headers[':path'] ?? '/',
    headers: http2Headers(headers),
    fields: () => pairs(Array.isArray(rawHeaders) ? rawHeaders : []),
    body: kept(stream),
    peer,
    streams,
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
  })
  if (stream.destroyed || stream.headersSent) return dispose(answer)
  respond(stream, answer, options.log)
  if (isForCertificate(answer, peer)) stream.session?.close()
  const { signal } = controller
  await writeAnswer(answer.body, stream, { ...options, reader: answer.reader, signal })
  if (stream.endAfterHeaders || stream.readableEnded || stream.destroyed) return
  if (isEmpty(answer)) readAway(stream)
  // The rest of a body that nobody reads would hold the stream open (RFC 9113, section 8.1).
  else if (!answer.trailers) stream.close(http2.constants.NGHTTP2_NO_ERROR)
}

const openStreams = new WeakMap<object, number>()

/** Counts a stream until it is closed. Returns the number on its connection. */
function countStream(stream: http2.ServerHttp2Stream): number {
  const { session } = stream
  if (session === undefined || stream.destroyed) return 1
  const count = (openStreams.get(session) ?? 0) + 1
  openStreams.set(session, count)
  stream.once('close', () => openStreams.set(session, (openStreams.get(session) ?? 1) - 1))
  return count
}

/**
 * TLS verified the certificate when the connection began, by the clock at that moment. It is only
 * verified again on another connection.
 */
function isForCertificate({ status }: ApiAnswer, peer: Peer): boolean {
  return status === 401 && peer.type === 'socket' && peer.isCertificateBad
}

function isEmpty({ body }: ApiAnswer): boolean {
  return isWhole(body) && body.length === 0
}

/** An answer without a body ends with its head: that is how gRPC recognizes an answer of trailers alone. */
function respond(stream: http2.ServerHttp2Stream, answer: ApiAnswer, log: Logger): void {
  const { trailers } = answer
  const { status, headers } = answerHead(answer, log)
  const head = { ':status': status, ...headers }
  if (isEmpty(answer)) return stream.respond(head, { endStream: true })
  if (!trailers) return stream.respond(head)
  stream.respond(head, { waitForTrailers: true })
  stream.once('wantTrailers', () => {
    try {
      stream.sendTrailers(writableHeaders(trailers(), log))
    } catch (error) {
      // Without its trailers the answer is incomplete.
      return endStream(stream, error, log)
    }
    if (!stream.endAfterHeaders && !stream.readableEnded) readAway(stream)
  })
}

/**
 * Reads and drops what the client still sends, because closing the stream at once would drop a head
 * or trailers that wait for the socket. After more than a window, the client has read them.
 */
function readAway(stream: http2.ServerHttp2Stream): void {
  let bytes = 0
  stream.on('data', (chunk: Uint8Array) => {
    bytes += chunk.length
    if (bytes > unreadBytesMax) stream.close(http2.constants.NGHTTP2_NO_ERROR)
  })
  stream.resume()
}

/** A reader that stops early must not close the connection, because the answer is still to be written. */
function kept(stream: Readable): AsyncIterable<Uint8Array> {
  return { [Symbol.asyncIterator]: () => stream.iterator({ destroyOnReturn: false }) }
}

async function onHttp1(
  options: Serving,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const controller = new AbortController()
  response.on('error', (error) => options.log.debug('Stream failed', { error }))
  response.once('close', () => controller.abort(clientGone))
  const answer = await options.onRequest(http1Request(request, controller))
  if (response.destroyed) return dispose(answer)
  // A body of the wrong length would run into the next answer.
  response.strictContentLength = true
  if (isForCertificate(answer, peerOf(request.socket))) response.shouldKeepAlive = false
  const { status, headers } = answerHead(answer, options.log)
  response.writeHead(status, announced(headers, response))
  // A watch may send nothing for a minute, and its client waits for the head until then. With a
  // known length, head and body go out together.
  const hasLength = answer.body instanceof Uint8Array || 'content-length' in headers
  // An empty Latin-1 text, because flushHeaders() would write each byte above ASCII as two.
  if (!hasLength) response.write('', 'latin1')
  const { trailers } = answer
  const beforeEnd =
    trailers && (() => response.addTrailers(writableHeaders(trailers(), options.log)))
  const { reader } = answer
  await writeAnswer(answer.body, response, {
    ...options,
    reader,
    signal: controller.signal,
    ...(beforeEnd ? { beforeEnd } : {}),
  })
  // The unread rest of the body precedes the next request.
  request.resume()
}

async function onUpgrade(
  options: Serving,
  request: IncomingMessage,
  client: { socket: Duplex; head: Uint8Array },
): Promise<void> {
  const controller = new AbortController()
  client.socket.once('close', () => controller.abort(clientGone))
  await options.onUpgrade(http1Request(request, controller), {
    ...client,
    writeBody: (body, out, reader) => writeAnswer(body, out, { ...options, reader }),
  })
}

function http1Request(request: IncomingMessage, controller: AbortController): ApiRequest {
  let fields: [string, string][] | undefined
  return {
    method: request.method ?? 'GET',
    target: request.url ?? '/',
    headers: http1Headers(request),
    // Several callers ask for the fields of one request.
    fields: () => (fields ??= pairs(request.rawHeaders)),
    body: kept(request),
    message: request,
    peer: peerOf(request.socket),
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
  }
}

/** Stops the source of a body that nobody will read. */
function dispose({ body }: ApiAnswer): void {
  if (Symbol.asyncIterator in body) void body[Symbol.asyncIterator]().return?.()
}

const peers = new WeakMap<object, Peer>()
const unknownPeer: Peer = Object.freeze({
  type: 'socket',
  address: '',
  certificates: Object.freeze([]),
  isCertificateBad: false,
})

/** Reads the peer once per connection: the chain costs more than most requests. */
function peerOf(socket: object | undefined): Peer {
  if (socket === undefined) return unknownPeer
  const known = peers.get(socket)
  if (known) return known
  // An HTTP/2 session shows its socket through a proxy without the class, so the method is checked.
  const tlsSocket = socket as Partial<TLSSocket>
  if (typeof tlsSocket.getPeerX509Certificate !== 'function') return unknownPeer
  const peer = readPeer(socket as TLSSocket)
  peers.set(socket, peer)
  return peer
}

function readPeer(socket: TLSSocket): Peer {
  const leaf = socket.getPeerX509Certificate()
  // Node returns false if the client named no server, though its types do not say so.
  const { servername: serverName } = socket as { servername?: string | false }
  const certificates: Uint8Array[] = []
  for (let at = leaf; at && certificates.length < 10; at = at.issuerCertificate) {
    certificates.push(at.raw)
  }
  return {
    type: 'socket',
    address: arrivals.getStore()?.takenFrom ?? socket.remoteAddress ?? '',
    ...(serverName ? { serverName } : {}),
    certificates: socket.authorized ? certificates : [],
    isCertificateBad: leaf !== undefined && !socket.authorized,
  }
}
