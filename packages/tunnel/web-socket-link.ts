import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import type { RawData, WebSocket } from 'ws'
import type { LinkListener, TunnelLink } from './tunnel-link.ts'

/** Small writes of one turn go out as one message up to this size; larger ones are not copied. */
const coalesceBytesMax = 65_536
/** How long a close waits for the other end's; for both ends' WebSocket options. */
export const closeOptions = Object.freeze({ closeTimeout: 5_000 })
const closeReasonBytesMax = 123
const closeGoingAway = 1_001
const closeUnsupportedData = 1_003

/**
 * Attach in the very turn in which the WebSocket opened: what arrives before that would be lost.
 */
export function webSocketLink(webSocket: WebSocket, socket: Pick<Socket, 'bytesRead'>): TunnelLink {
  const bytes = { in: 0, out: 0 }
  let goodbye = 'session ended'
  const close = (): void => webSocket.close(closeGoingAway, shortened(goodbye))
  let listener: LinkListener | undefined
  let fault: Error | undefined
  const stream = byteStream(webSocket, bytes, close)
  webSocket.on('message', (data, isBinary) => {
    listener?.onHeard()
    if (!isBinary) return webSocket.close(closeUnsupportedData, 'text is not understood')
    const chunk = chunkOf(data)
    bytes.in += chunk.length
    if (stream.destroyed) return
    if (!stream.push(chunk)) webSocket.pause()
  })
  webSocket.on('ping', () => listener?.onHeard())
  webSocket.on('pong', (payload) => {
    listener?.onHeard()
    listener?.onPong(payload.toString('latin1'))
  })
  webSocket.on('error', (error) => (fault = error))
  const closed = new Promise<string>((resolve) => {
    webSocket.on('close', (code, text) => {
      const reason = reasonOf(code, text.toString('utf8'), fault)
      resolve(reason)
      stream.destroy()
    })
  })
  return {
    stream,
    closed,
    get bytesHeard() {
      return socket.bytesRead
    },
    get bytesIn() {
      return bytes.in
    },
    get bytesOut() {
      return bytes.out
    },
    listen: (next) => (listener = next),
    ping: (payload) => {
      if (webSocket.readyState === webSocket.OPEN) webSocket.ping(payload)
    },
    sayAtEnd: (reason) => void (goodbye = reason),
    close: (reason) => {
      goodbye = reason
      close()
    },
    terminate: () => webSocket.terminate(),
  }
}

function byteStream(webSocket: WebSocket, bytes: { out: number }, close: () => void): Duplex {
  const send = (chunk: Uint8Array, done: (error?: Error | null) => void): void => {
    if (webSocket.readyState !== webSocket.OPEN)
      return done(new Error('Cannot send: link is closed'))
    bytes.out += chunk.length
    webSocket.send(chunk, { binary: true }, done)
  }
  return new Duplex({
    // Ends are HTTP/2's business; the link ends as a whole.
    allowHalfOpen: false,
    read: () => webSocket.resume(),
    write: (chunk: Uint8Array, _encoding, done) => send(chunk, done),
    writev: (parts, done) => {
      // Buffers: nothing here sets an encoding.
      const chunks = parts.map(({ chunk }) => chunk as Uint8Array)
      const total = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
      if (total <= coalesceBytesMax) return send(Buffer.concat(chunks, total), done)
      chunks.forEach((chunk, index) => send(chunk, index === chunks.length - 1 ? done : ignore))
    },
    final: (done) => {
      close()
      done()
    },
    destroy: (error, done) => {
      if (webSocket.readyState === webSocket.OPEN) close()
      // Else the other end's goodbye would wait behind what nobody reads any more.
      webSocket.resume()
      done(error)
    },
  })
}

/** A failed send fails the socket, too, and with it the last chunk's callback. */
function ignore(): void {}

function chunkOf(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data)
}

function reasonOf(code: number, text: string, fault: Error | undefined): string {
  if (fault) return `connection failed: ${fault.message}`
  if (text !== '') return text
  return code === 1_006 ? 'connection was cut' : `closed with code ${code}`
}

/** Cut between characters: a close frame carries at most 123 bytes of UTF-8 (RFC 6455, 5.5). */
function shortened(reason: string): string {
  let text = reason
  while (Buffer.byteLength(text) > closeReasonBytesMax) text = text.slice(0, -1)
  return text.toWellFormed()
}
