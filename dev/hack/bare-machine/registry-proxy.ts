import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import { Server, connect } from 'node:net'
import { pipeline } from 'node:stream'
import type { Duplex } from 'node:stream'
import type { RegistryWay } from './host-registries.ts'

/** The port of the proxy for the machine's apt and npm, on the machine's own loopback. */
export const proxyPort = 3_142

/**
 * The machine's only way out: an HTTP proxy that listens inside its network namespace and dials
 * from the host's, to the package registries and to nothing else.
 */
export async function startRegistryProxy(
  ways: readonly RegistryWay[],
  machinePid: number,
): Promise<AsyncDisposable> {
  const sockets = new Set<Duplex>()
  const server = createServer((incoming, answer) => passRequest(ways, incoming, answer))
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.on('connect', (incoming: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => socket.destroy())
    void openTunnel(ways, incoming.url ?? '', socket)
  })
  server.listen(await listenInside(machinePid))
  await once(server, 'listening')
  return {
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** A process inside binds the port and hands the socket over. */
async function listenInside(machinePid: number): Promise<Server> {
  const script = `require('node:net').createServer().listen(${proxyPort}, '127.0.0.1', function () {
    process.send('listening', this, () => process.exit())
  })`
  const inside = ['-t', String(machinePid), '-n', process.execPath, '-e', script]
  const child = spawn('nsenter', inside, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const [, server]: unknown[] = await once(child, 'message')
  if (!(server instanceof Server)) throw new Error('Cannot listen inside the machine')
  if (child.exitCode === null) await once(child, 'exit')
  return server
}

function findWay(ways: readonly RegistryWay[], host: string, port: number) {
  return ways.find((way) => way.hostname === host && way.port === port)
}

/** Passes a request over http, whose request line contains the whole URL. */
function passRequest(
  ways: readonly RegistryWay[],
  incoming: IncomingMessage,
  answer: ServerResponse,
): void {
  const url = URL.parse(incoming.url ?? '')
  const way = url && findWay(ways, url.hostname, Number(url.port || 80))
  if (!url || !way) {
    answer.writeHead(403).end(`Cannot reach ${incoming.url}: only package registries are\n`)
    return
  }
  const target = way.via ?? url
  const outgoing = request({
    host: target.hostname,
    port: target.port || 80,
    method: incoming.method,
    path: way.via ? url.href : url.pathname + url.search,
    headers: incoming.headers,
  })
  outgoing.on('response', (reply) => {
    answer.writeHead(reply.statusCode ?? 502, reply.headers)
    pipeline(reply, answer, () => undefined)
  })
  outgoing.on('error', (error) => {
    if (answer.headersSent) answer.destroy()
    else answer.writeHead(502).end(`Cannot reach ${url.host}: ${error.message}\n`)
  })
  pipeline(incoming, outgoing, () => undefined)
}

/** Opens a tunnel for https: CONNECT host:port. */
async function openTunnel(
  ways: readonly RegistryWay[],
  asked: string,
  socket: Duplex,
): Promise<void> {
  const { hostname = '', port } = URL.parse(`https://${asked}`) ?? {}
  const way = findWay(ways, hostname, Number(port || 443))
  if (!way) {
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
    return
  }
  const remote = way.via
    ? connect(Number(way.via.port || 80), way.via.hostname)
    : connect(way.port, way.hostname)
  remote.on('error', () => socket.destroy())
  const isConnected = await once(remote, 'connect').then(
    () => true,
    // The listener above has closed the client's socket.
    () => false,
  )
  if (!isConnected) return
  // A proxy of the host answers the same CONNECT itself.
  if (way.via) remote.write(`CONNECT ${asked} HTTP/1.1\r\nHost: ${asked}\r\n\r\n`)
  else socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
  pipeline(socket, remote, () => undefined)
  pipeline(remote, socket, () => undefined)
}
