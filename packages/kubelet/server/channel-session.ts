import type { Socket } from 'node:net'
import type { Clock } from '@skerry/base'
import type { RawData, WebSocket } from 'ws'
import { SpdyParser, SpdyWriter, type SpdyFrame } from './spdy-frames.ts'
import { kubeletBounds } from '../limits-table.ts'

/** The streams of a command. */
export interface SessionStreams {
  readonly stdin: boolean
  readonly stdout: boolean
  readonly stderr: boolean
  readonly tty: boolean
}

/** The channels of v5.channel.k8s.io; the number of a stream among those of SPDY follows from this order. */
const channels = Object.freeze({ stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 })
type StreamType = keyof typeof channels
/** The first byte of a message that closes a channel. */
const endOfChannel = 255
const { bufferedBytesMax, closeGraceMs } = kubeletBounds.channelSession

interface Stream {
  readonly type: StreamType
  readonly id: number
}

/**
 * A WebSocket with v5 channels outside, streams over SPDY/3.1 towards the runtime: the only protocol
 * in which the runtime learns that input has ended. Resolves when the command has ended or either
 * side is gone; owns both ends.
 */
export async function joinChannels(
  webSocket: WebSocket,
  backend: Socket,
  options: { streams: SessionStreams; rest: Buffer; clock: Pick<Clock, 'setTimer'> },
): Promise<void> {
  const streams = streamsOf(options.streams)
  const writer = new SpdyWriter()
  for (const { id, type } of streams) backend.write(writer.open(id, { streamtype: type }))
  webSocket.on('message', (message) => onMessage(message, { streams, writer, backend, webSocket }))
  webSocket.on('close', () => backend.destroy())
  webSocket.on('error', () => backend.destroy())
  const open = new Set(streams.filter(isOutput).map(({ id }) => id))
  const parser = new SpdyParser()
  for await (const chunk of from(options.rest, backend)) {
    for (const frame of parser.push(chunk)) {
      if (frame.type === 'ping') backend.write(writer.pong(frame.id))
      else await deliver(frame, { streams, open, webSocket })
    }
    if (open.size === 0) break
  }
  await closed(webSocket, options.clock)
}

function streamsOf({ stdin, stdout, stderr, tty }: SessionStreams): Stream[] {
  const wanted: readonly [StreamType, boolean][] = [
    ['error', true],
    ['stdin', stdin],
    ['stdout', stdout],
    ['stderr', stderr],
    ['resize', tty],
  ]
  return wanted.filter(([, isWanted]) => isWanted).map(([type], at) => ({ type, id: 2 * at + 1 }))
}

function isOutput({ type }: Stream): boolean {
  return type === 'error' || type === 'stdout' || type === 'stderr'
}

async function* from(rest: Buffer, socket: Socket): AsyncGenerator<Buffer> {
  if (rest.length > 0) yield rest
  try {
    // The socket's owner closes it; ending the reading early would report an error of its own.
    for await (const chunk of socket.iterator({ destroyOnReturn: false })) yield chunk
  } catch {
    // Either side is gone, so the session ends here and there is nobody to report to.
    return
  }
}

interface Session {
  readonly streams: readonly Stream[]
  readonly writer: SpdyWriter
  readonly backend: Socket
  readonly webSocket: WebSocket
}

/** A message's first byte names its channel. */
function onMessage(message: RawData, { streams, writer, backend, webSocket }: Session): void {
  const bytes = bytesOf(message)
  const isEnd = bytes[0] === endOfChannel
  const channel = isEnd ? bytes[1] : bytes[0]
  const stream = streams.find(({ type }) => channels[type] === channel)
  if (!stream || isOutput(stream) || !backend.writable) return
  const payload = isEnd ? Buffer.alloc(0) : bytes.subarray(1)
  if (backend.write(writer.data(stream.id, payload, { isLast: isEnd }))) return
  webSocket.pause()
  backend.once('drain', () => webSocket.resume())
}

function bytesOf(message: RawData): Buffer {
  if (Buffer.isBuffer(message)) return message
  return Array.isArray(message) ? Buffer.concat(message) : Buffer.from(message)
}

async function deliver(
  frame: Exclude<SpdyFrame, { type: 'ping' }>,
  { streams, open, webSocket }: Pick<Session, 'streams' | 'webSocket'> & { open: Set<number> },
): Promise<void> {
  if (frame.type === 'reset') {
    if (frame.stream === 0) open.clear()
    else open.delete(frame.stream)
    return
  }
  const stream = streams.find(({ id }) => id === frame.stream)
  if (!stream) return
  if (frame.payload.length > 0) {
    const message = Buffer.concat([Buffer.of(channels[stream.type]), frame.payload])
    const sent = new Promise<void>((resolve) => webSocket.send(message, () => resolve()))
    // The client's pace becomes the runtime's.
    if (webSocket.bufferedAmount > bufferedBytesMax) await sent
  }
  if (frame.isLast) open.delete(frame.stream)
}

/** Resolves once the client has read everything that was sent. */
async function closed(webSocket: WebSocket, clock: Pick<Clock, 'setTimer'>): Promise<void> {
  if (webSocket.readyState === webSocket.CLOSED) return
  const { promise: done, resolve } = Promise.withResolvers<void>()
  using _grace = clock.setTimer(closeGraceMs, resolve, { isBackground: true })
  webSocket.once('close', () => resolve())
  webSocket.close(1000)
  await done
  webSocket.terminate()
}
