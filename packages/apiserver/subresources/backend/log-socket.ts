import { createHash } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { StatusError } from '@skerry/api'
import type { SubresourceAnswer, UpgradeSocket } from '../../contract/subresource.ts'
import { writeRefusal } from './upgrade-tunnel.ts'

/** RFC 6455, section 1.3. */
const handshakeGuid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
const opcodes = Object.freeze({ text: 1, binary: 2, close: 8 })

/** Maps subprotocols of one-way streams to their encoding of bytes. */
const encodings: Readonly<Record<string, (bytes: Uint8Array) => Uint8Array>> = Object.freeze({
  '': (bytes) => frame(opcodes.binary, bytes),
  'binary.k8s.io': (bytes) => frame(opcodes.binary, bytes),
  'base64.binary.k8s.io': (bytes) =>
    frame(opcodes.text, Buffer.from(Buffer.from(bytes).toString('base64'))),
})

/**
 * Sends a streamed answer over a WebSocket, which is closed when the stream ends. Ignores what the
 * client sends, because the stream goes one way. Never throws; refusals are written to the client.
 */
export async function sendOverSocket(
  headers: Readonly<Record<string, string>>,
  client: UpgradeSocket,
  open: () => Promise<SubresourceAnswer>,
): Promise<void> {
  const { socket } = client
  socket.on('error', () => undefined)
  try {
    const { protocol, reply } = acceptSocket(headers)
    const answer = await open()
    if (answer.type !== 'stream')
      throw new StatusError('InternalError', 'the answer is not a stream')
    socket.write(reply)
    // The socket is read so that the client's leaving is noticed.
    socket.resume()
    const encode = encodings[protocol] ?? ((bytes) => frame(opcodes.binary, bytes))
    for await (const chunk of answer.body) {
      if (socket.destroyed) return
      if (!socket.write(encode(chunk))) await drained(socket)
    }
    socket.end(frame(opcodes.close, Buffer.from([0x03, 0xe8])))
  } catch (error) {
    if (socket.writableLength > 0) socket.destroy()
    else writeRefusal(client, error)
  }
}

/** Returns the first offered protocol that is known. If none is offered, bytes are binary messages. */
function acceptSocket(headers: Readonly<Record<string, string>>): {
  protocol: string
  reply: string
} {
  const key = headers['sec-websocket-key']
  if (headers['upgrade']?.toLowerCase() !== 'websocket' || key === undefined) {
    throw new StatusError('BadRequest', 'the request is not a WebSocket handshake')
  }
  const offered = (headers['sec-websocket-protocol'] ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && !name.startsWith('base64url.bearer.authorization.k8s.io.'))
  const protocol =
    offered.length === 0 ? '' : offered.find((name) => Object.hasOwn(encodings, name))
  if (protocol === undefined) {
    const known = Object.keys(encodings).filter((name) => name !== '')
    throw new StatusError(
      'BadRequest',
      `requested protocol(s) are not supported: [${offered.join(' ')}]; supports [${known.join(' ')}]`,
    )
  }
  const accept = createHash('sha1').update(`${key}${handshakeGuid}`).digest('base64')
  const lines = [
    'HTTP/1.1 101 Switching Protocols',
    'upgrade: websocket',
    'connection: Upgrade',
    `sec-websocket-accept: ${accept}`,
    ...(protocol === '' ? [] : [`sec-websocket-protocol: ${protocol}`]),
  ]
  return { protocol, reply: `${lines.join('\r\n')}\r\n\r\n` }
}

/** Builds one whole message, unmasked, as a server sends it (RFC 6455, section 5.2). */
function frame(opcode: number, payload: Uint8Array): Uint8Array {
  const first = 0x80 | opcode
  const { length } = payload
  if (length < 126) return Buffer.concat([Buffer.from([first, length]), payload])
  if (length < 65_536) {
    const head = Buffer.from([first, 126, 0, 0])
    head.writeUInt16BE(length, 2)
    return Buffer.concat([head, payload])
  }
  const head = Buffer.alloc(10)
  head[0] = first
  head[1] = 127
  head.writeBigUInt64BE(BigInt(length), 2)
  return Buffer.concat([head, payload])
}

function drained(socket: Duplex): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      socket.off('drain', done)
      socket.off('close', done)
      resolve()
    }
    socket.on('drain', done)
    socket.on('close', done)
  })
}
