import { connect, type Socket } from 'node:net'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { StatusError } from '@skerry/api'
import { acceptHandshake, HandshakeError, whenSilent, type Clock } from '@skerry/base'
import type { WebSocket, WebSocketServer as Server } from 'ws'
import type { SessionStreams } from './channel-session.ts'
import { kubeletBounds } from '../limits-table.ts'

/** The protocol in which newer clients carry SPDY/3.1 port-forwarding inside WebSocket messages. */
const tunnelledPortForward = 'SPDY/3.1+portforward.k8s.io'

/** The runtime's streaming server knows no newer one than v4: this one is translated here. */
const newestChannels = 'v5.channel.k8s.io'

const { connectMs, headBytesMax, messageBytesMax } = kubeletBounds.streamSession

export interface ClientUpgrade {
  request: IncomingMessage
  socket: Duplex
  head: Buffer
}

/**
 * Joins a client's upgraded connection with the runtime's streaming server at `url`: byte by byte if the
 * runtime speaks the client's protocol. `streams` are those of a command.
 */
export async function joinSession(
  client: ClientUpgrade,
  session: { readonly url: string; readonly streams: SessionStreams },
  { clock }: { readonly clock: Pick<Clock, 'setTimer'> },
): Promise<void> {
  const { url, streams } = session
  const protocols = protocolsOf(client.request)
  if (protocols.includes(tunnelledPortForward)) return joinTunnelled(client, url, clock)
  const isWebSocket = client.request.headers.upgrade?.toLowerCase() === 'websocket'
  if (isWebSocket && protocols.includes(newestChannels))
    return joinTranslated(client, { url, streams, clock })
  const target = new URL(url)
  await using backend = await connectTo(target, clock)
  backend.write(requestHead(client.request, target, isWebSocket ? protocols : []))
  if (client.head.length > 0) backend.write(client.head)
  await joinBoth(client.socket, backend)
}

function protocolsOf(request: IncomingMessage): string[] {
  return (request.headers['sec-websocket-protocol'] ?? '')
    .split(',')
    .map((each) => each.trim())
    .filter(Boolean)
}

/** The client's own upgrade request, addressed to the runtime; a channel protocol it does not know is left out. */
function requestHead(
  request: IncomingMessage,
  target: URL,
  webSocketProtocols: readonly string[],
): string {
  const lines = [`GET ${target.pathname}${target.search} HTTP/1.1`, `Host: ${target.host}`]
  const { rawHeaders } = request
  if (request.method === 'POST') lines[0] = `POST ${target.pathname}${target.search} HTTP/1.1`
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    const value = rawHeaders[index + 1] ?? ''
    if (!forwardedHeaders.has(name.toLowerCase())) continue
    if (name.toLowerCase() === 'sec-websocket-protocol') continue
    lines.push(`${name}: ${value}`)
  }
  const known = webSocketProtocols.filter((each) => each !== newestChannels)
  if (known.length > 0) lines.push(`Sec-WebSocket-Protocol: ${known.join(', ')}`)
  return `${lines.join('\r\n')}\r\n\r\n`
}

const forwardedHeaders = new Set([
  'connection',
  'upgrade',
  'x-stream-protocol-version',
  'sec-websocket-key',
  'sec-websocket-version',
  'sec-websocket-protocol',
  'content-length',
])

function connectTo(target: URL, clock: Pick<Clock, 'setTimer'>): Promise<Socket & AsyncDisposable> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: target.hostname,
      port: Number(target.port),
      allowHalfOpen: true,
    })
    const timer = clock.setTimer(connectMs, () =>
      socket.destroy(new Error('Cannot reach the runtime: no answer')),
    )
    socket.once('error', reject)
    socket.once('close', () => timer[Symbol.dispose]())
    socket.once('connect', () => {
      timer[Symbol.dispose]()
      socket.setNoDelay(true)
      resolve(socket)
    })
  })
}

/** Both directions, each with its own end: a client that has sent everything still reads the answer. */
async function joinBoth(one: Duplex, other: Duplex): Promise<void> {
  const results = await Promise.allSettled([
    pipeline(one, other, { end: true }),
    pipeline(other, one, { end: true }),
  ])
  if (results.every((each) => each.status === 'fulfilled')) return
  one.destroy()
  other.destroy()
}

/** Joins SPDY inside WebSocket messages on the client's side with plain SPDY towards the runtime. */
async function joinTunnelled(
  client: ClientUpgrade,
  url: string,
  clock: Pick<Clock, 'setTimer'>,
): Promise<void> {
  const backend = await connectTo(new URL(url), clock)
  // Not `await using`: disposal of a broken socket rejects, and its error would hide the reason.
  try {
    const rest = await upgradeToSpdy(backend, url, {
      protocol: 'portforward.k8s.io',
      client: client.socket,
    })
    // The library is imported with the first such session, and before it is accepted: otherwise frames could be
    // lost.
    const library = await import('ws')
    const webSocket = await acceptWebSocket(client, library, tunnelledPortForward)
    const stream = library.createWebSocketStream(webSocket)
    if (rest.length > 0) stream.write(rest)
    await joinBoth(stream, backend)
  } finally {
    backend.destroy()
  }
}

/** Joins channels on the client's side with streams towards the runtime. */
async function joinTranslated(
  client: ClientUpgrade,
  { url, streams, clock }: { url: string; streams: SessionStreams; clock: Pick<Clock, 'setTimer'> },
): Promise<void> {
  const backend = await connectTo(new URL(url), clock)
  try {
    const rest = await upgradeToSpdy(backend, url, {
      protocol: 'v4.channel.k8s.io',
      client: client.socket,
    })
    const library = await import('ws')
    const { joinChannels } = await import('./channel-session.ts')
    const webSocket = await acceptWebSocket(client, library, newestChannels)
    await joinChannels(webSocket, backend, { streams, rest, clock })
  } finally {
    backend.destroy()
  }
}

/** Resolves with the bytes after the answer's head; rejects if either side is gone, or the runtime is silent. */
async function upgradeToSpdy(
  backend: Socket,
  url: string,
  { protocol, client }: { protocol: string; client: Duplex },
): Promise<Buffer> {
  const target = new URL(url)
  const upgrade = [
    `POST ${target.pathname}${target.search} HTTP/1.1`,
    `Host: ${target.host}`,
    'Connection: Upgrade',
    'Upgrade: SPDY/3.1',
    `X-Stream-Protocol-Version: ${protocol}`,
    'Content-Length: 0',
  ]
  let fault: Error | undefined
  const giveUp = (why: string): void => {
    fault ??= unopened(why)
    backend.destroy()
  }
  const left = (): void => giveUp('the client has left')
  const late = (): void => giveUp('the runtime does not answer')
  client.once('close', left)
  using _silence = whenSilent(backend, connectMs, late)
  try {
    if (client.destroyed) throw unopened('the client has left')
    backend.write(`${upgrade.join('\r\n')}\r\n\r\n`)
    return await readUpgradeAnswer(backend)
  } catch (error) {
    throw fault ?? error
  } finally {
    client.off('close', left)
  }
}

async function readUpgradeAnswer(backend: Socket): Promise<Buffer> {
  let received = Buffer.alloc(0)
  for await (const chunk of backend.iterator({ destroyOnReturn: false })) {
    // No encoding is set, so it reads bytes.
    received = Buffer.concat([received, chunk as Buffer])
    const end = received.indexOf('\r\n\r\n')
    if (end !== -1) {
      const [status = ''] = received.toString('latin1', 0, end).split('\r\n')
      if (!status.includes(' 101 ')) throw unopened(`the runtime answered ${status}`)
      return received.subarray(end + 4)
    }
    if (received.length > headBytesMax) break
  }
  throw unopened('the runtime did not answer the upgrade')
}

function unopened(why: string): Error {
  return new Error(`Cannot open a session: ${why}`)
}

async function acceptWebSocket(
  client: ClientUpgrade,
  { WebSocketServer }: { WebSocketServer: typeof Server },
  protocol: string,
): Promise<WebSocket> {
  const server = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    handleProtocols: () => protocol,
    maxPayload: messageBytesMax,
  })
  try {
    return await acceptHandshake(server, client)
  } catch (error) {
    if (!(error instanceof HandshakeError)) throw error
    throw new StatusError('BadRequest', error.message, { cause: error })
  }
}

export function refuse(socket: Duplex, message: string, status = '403 Forbidden'): void {
  const body = `${message}\n`
  const head = [
    `HTTP/1.1 ${status}`,
    'Content-Type: text/plain',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}
